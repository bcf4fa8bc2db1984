import { randomBytes } from "node:crypto";
import { SEALING_KEY_BYTES, toSealingKey } from "../../src/tenancy/sealing";

/** The variables of a service for this machine alone, whose models are on this machine too. No limit of turns ends a measurement. */
export const LOCAL_VARIABLES = {
  OPEN_ACCESS: "loopback",
  ALLOWED_ORIGINS: "http://127.0.0.1:*",
  TENANT_CONCURRENT_TURNS: "0",
  SEALING_KEYS: toSealingKey(1, randomBytes(SEALING_KEY_BYTES)),
};
