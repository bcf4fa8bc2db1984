/** Path prefix of the simulated tools. A separate file, because the test build also imports it. */
export const TOOL_PATH = "/tools/";
