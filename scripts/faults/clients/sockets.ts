import { connect } from "node:net";

const GIVE_UP_MS = 20_000;

/** So many raw connections to a stream that are reset as soon as something has come. Resolves when all are gone. */
export async function leaveInTheMiddle(origin: string, path: string, count: number): Promise<void> {
  const { hostname, port } = new URL(origin);
  const leaving = Array.from({ length: count }, () => leaveOne(hostname, Number(port), path));
  await Promise.all(leaving);
}

function leaveOne(host: string, port: number, path: string): Promise<void> {
  return new Promise((gone) => {
    const socket = connect(port, host, () =>
      socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\naccept: text/event-stream\r\n\r\n`),
    );
    socket.setTimeout(GIVE_UP_MS, () => socket.destroy());
    socket.once("data", () => socket.resetAndDestroy());
    socket.on("error", () => undefined).once("close", () => gone());
  });
}
