import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Newcomer } from "./newcomer";

/**
 * The services of a newcomer, and the output when they are ready. Without `devVars` the clone's
 * example applies.
 */
type NewcomerService = {
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
    // The run takes about 20 s from here, and the service runs as long.
    start: (newcomer, port) =>
      newcomer.npm(["run", "demo", "--", "--once", "--port", `${port}`], /sprinter answers/),
  },
];
