import type { ShellHost } from "./shell-host";

/** What the metered copy of the shell exports beside the package's own. */
declare module "just-bash/browser" {
  export function provideHost(host: ShellHost): void;
}
