import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { leaveInTheMiddle } from "../clients/sockets";

/** Whether connections are said to have vanished only if they were let in before. */
const LET_IN = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 1000\n\n";
const FULL = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n";

let server: Server;
afterEach(() => server.close());

/** A server that answers the nth connection, from 1, like this. */
async function serverOf(answer: (nth: number, socket: Socket) => void): Promise<string> {
  let nth = 0;
  server = createServer((socket) => {
    nth += 1;
    const place = nth;
    socket.on("error", () => undefined).once("data", () => answer(place, socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${address && typeof address === "object" ? address.port : 0}`;
}

type Case = {
  name: string;
  answer: (nth: number, socket: Socket) => void;
  /** How long a place may stay taken. */
  fullForMs?: number;
  vanished: number;
  others: string[];
};

it.each<Case>([
  { name: "who was let in", answer: (_, socket) => socket.write(LET_IN), vanished: 3, others: [] },
  {
    name: "who was told to come later and then let in",
    answer: (nth, socket) => socket.write(nth <= 3 ? FULL : LET_IN),
    vanished: 3,
    others: [],
  },
  {
    name: "not who was told so for longer than a place may stay taken",
    answer: (_, socket) => socket.write(FULL),
    fullForMs: 200,
    vanished: 0,
    others: ["429", "429", "429"],
  },
  {
    name: "not who was told that there is nothing",
    answer: (nth, socket) => socket.write(nth === 1 ? "HTTP/1.1 404 Not Found\r\n\r\n" : LET_IN),
    vanished: 2,
    others: ["404"],
  },
  {
    name: "not who was told nothing",
    answer: (nth, socket) => (nth === 1 ? socket.end() : socket.write(LET_IN)),
    vanished: 2,
    others: ["closed without an answer"],
  },
  {
    name: "who was let in piece by piece",
    answer: (_, socket) => {
      socket.write("HTTP/1.");
      setTimeout(() => socket.write(LET_IN.slice("HTTP/1.".length)), 20);
    },
    vanished: 3,
    others: [],
  },
])(
  "of connections that leave in the middle counts $name",
  async ({ answer, fullForMs, vanished, others }) => {
    const origin = await serverOf(answer);
    expect(await leaveInTheMiddle(origin, "/events", 3, fullForMs)).toEqual({ vanished, others });
  },
);

it("nobody vanishes from where nobody listens", async () => {
  const origin = await serverOf(() => undefined);
  server.close();
  await once(server, "close");
  const { vanished, others } = await leaveInTheMiddle(origin, "/events", 2);
  expect(vanished).toBe(0);
  expect(others.join()).toContain("ECONNREFUSED");
});
