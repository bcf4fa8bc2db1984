import type { Surroundings } from "../runs/kinds";
import type { FaultyService } from "../faulty-service";
import type { Evidence } from "./evidence";

/** Bytes of memory at their highest: `live` after a collection, `resident` of the process. */
export type Peak = { live: number; resident: number };

/** What came of the largest session with its slow readers. */
export type LoudFigures = {
  agents: number;
  logBytes: number;
  seconds: number;
  peak: Peak;
  visits: number;
};

/** What clients that misbehave meet. */
export type World = {
  service: FaultyService;
  providers: Surroundings;
  inspectorPort: number;
  seed: number;
  /** How many write the largest session. */
  loudAgents: number;
  /** What is kept if something is wrong. */
  evidence: Evidence;
  /** A line of figures for people. */
  tell: (line: string) => void;
  onFigures?: (figures: LoudFigures) => void;
};
