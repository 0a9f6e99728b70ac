# SPDX-License-Identifier: Apache-2.0
"""Programs that take the place of ExecuteNetwork, with a process that stays: execute.py and the delegate's
tests/delegate/python/execute.py.

usage: PROGRAM ARGUMENT...          runs the command line
       PROGRAM --serve SOCKET [ARGUMENT...]
                                    runs the command lines of other calls, which set TENON_EXECUTE_SOCKET=SOCKET, each
                                    with the arguments that are given here before its own
"""

import json
import os
import socket
import socketserver
import sys

CRASH = 139  # the status of a call whose process ended without an answer


class Threads(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


class Processes(socketserver.ForkingMixIn, socketserver.UnixStreamServer):
    """Each call has a process of its own, so that one may crash."""

    request_queue_size = 64


def serve(path, execute, server_type, first_arguments):
    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            request = json.loads(self.rfile.readline())
            answer = execute(first_arguments + request["arguments"], request["folder"])
            self.wfile.write(json.dumps(answer).encode() + b"\n")

    with server_type(path, Handler) as server:
        server.serve_forever()


def ask(path, arguments):
    """Has a server execute a command line."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(json.dumps({"arguments": arguments, "folder": os.getcwd()}).encode() + b"\n")
        answer = connection.makefile().readline()
        return json.loads(answer) if answer else (CRASH, "the process that ran the model crashed")


def main(execute, server_type=Threads, load=lambda: None):
    """`execute`: of arguments and their folder; returns exit status and text. `load`: called once by a server."""
    arguments = sys.argv[1:]
    if len(arguments) >= 2 and arguments[0] == "--serve":
        load()
        serve(arguments[1], execute, server_type, arguments[2:])
    path = os.environ.get("TENON_EXECUTE_SOCKET")
    status, text = ask(path, arguments) if path else execute(arguments, os.getcwd())
    if text:
        print(text, file=sys.stderr)
    return status
