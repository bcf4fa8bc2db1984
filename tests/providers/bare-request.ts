import type { ModelRequest } from "../../src/providers/provider";

/** An empty request, for tests of responses. */
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
