import Pintle
import PintleOpenSSL

print("adapter")
