"""Requests an address with httpx, which cannot pin. Usage: python-httpx.py URL ROOTS"""
import ssl
import sys

import httpx

url, roots = sys.argv[1:]
print(httpx.get(url, verify=ssl.create_default_context(cafile=roots), timeout=3).status_code)
