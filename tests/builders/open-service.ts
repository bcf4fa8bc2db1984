import type { Services } from "../../src/api/services";
import { OPEN_TENANCY } from "../api/tenancy-fakes";
import { noContexts } from "./no-contexts";
import { noEvals } from "./no-evals";
import { noSecrets } from "./no-secrets";
import { noSessions } from "./no-sessions";

/** A development service without sessions, keys and teams. */
export const OPEN_SERVICE: Services = {
  session: () => {
    throw new Error("no session may be reached");
  },
  tenancy: OPEN_TENANCY,
  config: { storedKeys: [], allowedOrigins: [], variables: {} },
  secrets: noSecrets,
  evals: noEvals,
  contexts: noContexts,
  stored: noSessions,
  teams: {},
  version: { version: "0.0.0", deployment: null },
  openOnLoopback: true,
};
