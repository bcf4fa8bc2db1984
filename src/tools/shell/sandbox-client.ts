/**
 * What is used of a sandbox as `@cloudflare/sandbox` publishes it (`ISandbox` and its class's `destroy`, version 0.12): what `getSandbox(env.Sandbox, id)` gives
 * fits as it is. The package itself stays out: an operator who binds a sandbox brings it along with its container image.
 */
export type SandboxClient = {
  /** Runs a command line in the container's shell. `timeout` in milliseconds. */
  exec(
    command: string,
    options?: { timeout?: number; cwd?: string },
  ): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  writeFile(
    path: string,
    content: string,
    options?: { encoding?: string },
  ): Promise<{ success: boolean }>;
  /** Kills what runs there and drops the container with all it holds; the next command gets a fresh one. */
  destroy(): Promise<void>;
  readFile(
    path: string,
    options?: { encoding?: "base64" },
  ): Promise<{ success: boolean; content: string; encoding?: "utf-8" | "base64" }>;
};
