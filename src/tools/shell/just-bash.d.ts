import type { ShellHost } from "./shell-host";

/** Additional export of the metered copy of the shell. */
declare module "just-bash/browser" {
  export function provideHost(host: ShellHost): void;
}
