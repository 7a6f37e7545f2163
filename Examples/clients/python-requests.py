"""Requests an address with requests, which cannot pin. Usage: python-requests.py URL ROOTS"""
import sys

import requests

url, roots = sys.argv[1:]
print(requests.get(url, verify=roots, timeout=3).status_code)
