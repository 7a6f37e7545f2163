internal import Pintle
