import type { SimulatedProviders } from "../../simulated-providers/server";
import type { FaultyService } from "../faulty-service";
import type { LoudFigures } from "./crowd";

/** What clients that misbehave meet. */
export type World = {
  service: FaultyService;
  providers: SimulatedProviders;
  inspectorPort: number;
  seed: number;
  /** How many write the largest session. */
  loudAgents: number;
  onFigures?: (figures: LoudFigures) => void;
};
