import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/**
 * A server without work, in its own process. Only the machine can cause delays of its responses.
 */
export class IdleServer {
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(url: string, process: ChildProcess) {
    this.url = url;
    this.#process = process;
  }

  static async start(): Promise<IdleServer> {
    const child = spawn(process.execPath, ["-e", SERVER_CODE], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [port] = await once(child.stdout, "data");
    return new IdleServer(`http://127.0.0.1:${String(port).trim()}`, child);
  }

  async stop(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.kill();
    await ended;
  }
}

const SERVER_CODE = `
const server = require("node:http").createServer((_, response) => response.end("ok"));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;
