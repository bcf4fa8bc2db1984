import { writeFileSync } from "node:fs";
import path from "node:path";
import type { Newcomer } from "./newcomer";

/**
 * A service that a newcomer starts. `start` waits until the service is ready. `devVars`: content of
 * the file `.dev.vars`; omitted: the example in the clone is used.
 */
type NewcomerService = {
  name: "npm start" | "npm run demo";
  start(newcomer: Newcomer, port: number, devVars?: string): Promise<void>;
};

export const NEWCOMER_SERVICES: readonly NewcomerService[] = [
  {
    name: "npm start",
    start: (newcomer, port, devVars) => {
      writeDevVars(newcomer, devVars);
      return newcomer.npm(["start", "--", "--port", `${port}`], /http:\/\/127\.0\.0\.1:\d+/);
    },
  },
  {
    name: "npm run demo",
    // After this output, the run takes about 20 s. The service ends with the run.
    start: (newcomer, port, devVars) => {
      writeDevVars(newcomer, devVars);
      return newcomer.npm(["run", "demo", "--", "--once", "--port", `${port}`], /sprinter answers/);
    },
  },
];

function writeDevVars({ dir }: Newcomer, content: string | undefined): void {
  if (content !== undefined) writeFileSync(path.join(dir, ".dev.vars"), content);
}
