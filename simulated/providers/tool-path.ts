/**
 * Path of the simulated tool server. A separate file, because the test build of the service uses it
 * too.
 */
export const TOOL_PATH = "/tools/";
