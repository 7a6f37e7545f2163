"""Requests an address with aiohttp. Usage: python-aiohttp.py URL ROOTS"""
import asyncio
import ssl
import sys

import aiohttp


async def request(url, roots):
    context = ssl.create_default_context(cafile=roots)
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=3)) as session:
        async with session.get(url, ssl=context) as response:
            print(response.status)


asyncio.run(request(*sys.argv[1:]))
