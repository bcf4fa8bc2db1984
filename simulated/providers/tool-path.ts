/** Where the tools of the simulated tool server lie; apart from it, as the test build of the service asks for it too. */
export const TOOL_PATH = "/tools/";
