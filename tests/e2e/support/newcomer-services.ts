import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Newcomer } from "./newcomer";

/** What a newcomer starts, and when it answers. Without `devVars` the clone's own example applies, as for everybody. */
export type NewcomerService = {
  name: "npm start" | "npm run demo";
  start(newcomer: Newcomer, port: number, devVars?: string): Promise<void>;
};

export const NEWCOMER_SERVICES: readonly NewcomerService[] = [
  {
    name: "npm start",
    start: (newcomer, port, devVars) => {
      if (devVars !== undefined) writeFileSync(path.join(newcomer.dir, ".dev.vars"), devVars);
      return newcomer.npm(["start", "--", "--port", `${port}`], /http:\/\/127\.0\.0\.1:\d+/);
    },
  },
  {
    name: "npm run demo",
    // The run takes about 20 s from here, and the service stays for as long.
    start: (newcomer, port) =>
      newcomer.npm(["run", "demo", "--", "--once", "--port", `${port}`], /sprinter answers/),
  },
];
