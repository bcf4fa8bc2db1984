import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { connectAndReset } from "../clients/sockets";

/** Connections count as vanished only if they were admitted. */
const ADMITTED = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 1000\n\n";
const FULL = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n";

let server: Server;
afterEach(() => server.close());

/** A server that answers its n-th connection, counted from 1, with a call of `answer`. */
async function serverOf(answer: (nth: number, socket: Socket) => void): Promise<string> {
  let nth = 0;
  server = createServer((socket) => {
    nth += 1;
    const connection = nth;
    socket.on("error", () => undefined).once("data", () => answer(connection, socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${address && typeof address === "object" ? address.port : 0}`;
}

type Case = {
  name: string;
  answer: (nth: number, socket: Socket) => void;
  /** How long a refused connection retries. */
  retryForMs?: number;
  vanished: number;
  others: string[];
};

it.each<Case>([
  {
    name: "admitted connections",
    answer: (_, socket) => socket.write(ADMITTED),
    vanished: 3,
    others: [],
  },
  {
    name: "connections that were admitted after a retry",
    answer: (nth, socket) => socket.write(nth <= 3 ? FULL : ADMITTED),
    vanished: 3,
    others: [],
  },
  {
    name: "no connection that was refused until the time limit",
    answer: (_, socket) => socket.write(FULL),
    retryForMs: 200,
    vanished: 0,
    others: ["429", "429", "429"],
  },
  {
    name: "no connection that received another status",
    answer: (nth, socket) => socket.write(nth === 1 ? "HTTP/1.1 404 Not Found\r\n\r\n" : ADMITTED),
    vanished: 2,
    others: ["404"],
  },
  {
    name: "no connection that received no reply",
    answer: (nth, socket) => (nth === 1 ? socket.end() : socket.write(ADMITTED)),
    vanished: 2,
    others: ["closed without an answer"],
  },
  {
    name: "connections whose reply came in parts",
    answer: (_, socket) => {
      socket.write("HTTP/1.");
      setTimeout(() => socket.write(ADMITTED.slice("HTTP/1.".length)), 20);
    },
    vanished: 3,
    others: [],
  },
])("counts as vanished $name", async ({ answer, retryForMs, vanished, others }) => {
  const origin = await serverOf(answer);
  expect(await connectAndReset(origin, "/events", 3, retryForMs)).toEqual({ vanished, others });
});

it("no connection vanishes if the server is closed", async () => {
  const origin = await serverOf(() => undefined);
  server.close();
  await once(server, "close");
  const { vanished, others } = await connectAndReset(origin, "/events", 2);
  expect(vanished).toBe(0);
  expect(others.join()).toContain("ECONNREFUSED");
});
