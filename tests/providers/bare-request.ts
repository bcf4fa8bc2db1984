import type { ModelRequest } from "../../src/providers/provider";

/** A request that asks for nothing: for tests of what comes back. */
export const BARE_REQUEST: ModelRequest = {
  model: "m",
  system: "",
  messages: [],
  tools: [],
  toolChoice: "auto",
  maxOutputTokens: 1,
  params: {},
  hostedTools: [],
  continues: false,
};
