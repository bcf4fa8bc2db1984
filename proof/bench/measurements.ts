import { BUDGET } from "./budget";
import { CANCEL } from "./cancel";
import { CPU } from "./cpu";
import { FAN_OUT } from "./fan-out";
import type { Measurement } from "./figure";
import { FILES } from "./files";
import { FIRST_EVENT } from "./first-event";
import { KILL } from "./kill";
import { OPERATIONS } from "./operations";
import { PEERS } from "./peers/peers";
import { BETWEEN_STAGES } from "./profile/stages";
import { RESUME } from "./resume";
import { ROWS } from "./rows";
import { SESSIONS_AT_ONCE } from "./sessions";
import { BUNDLE, COLD_START } from "./size";
import { SNAPSHOTS } from "./snapshots/snapshots";
import { SLOPE } from "./round-overhead";
import { AGENTS, TEAMS } from "./team-overhead";
import { WALL } from "./wall";

/** All measurements, in the order in which they run and are shown. */
export const MEASUREMENTS: readonly Measurement[] = [
  FIRST_EVENT,
  WALL,
  BETWEEN_STAGES,
  TEAMS,
  AGENTS,
  PEERS,
  SLOPE,
  CPU,
  SESSIONS_AT_ONCE,
  CANCEL,
  KILL,
  RESUME,
  BUDGET,
  FAN_OUT,
  SNAPSHOTS,
  FILES,
  BUNDLE,
  COLD_START,
  ROWS,
  OPERATIONS,
];
