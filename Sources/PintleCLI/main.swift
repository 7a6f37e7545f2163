print("pintle")
