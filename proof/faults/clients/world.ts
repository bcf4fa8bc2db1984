import type { RunServers } from "../runs/kinds";
import type { FaultyService } from "../faulty-service";
import type { Evidence } from "./evidence";

/** Peak memory in bytes: `live` after a garbage collection, `resident` of the process. */
export type Peak = { live: number; resident: number };

/** Figures of the largest session. `visits`: how often its slow readers connected, in total. */
export type LoudFigures = {
  agents: number;
  logBytes: number;
  seconds: number;
  peak: Peak;
  visits: number;
};

/** The service, the servers and the settings that a scene of misbehaving clients uses. */
export type World = {
  service: FaultyService;
  providers: RunServers;
  inspectorPort: number;
  seed: number;
  /** Number of agents that write the largest session. */
  loudAgents: number;
  /** Written to disk only if the scene fails. */
  evidence: Evidence;
  /** Adds a line of figures to the report. */
  note: (line: string) => void;
  onFigures?: (figures: LoudFigures) => void;
};
