import Pintle

print("core")
