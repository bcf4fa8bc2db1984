import type { ShellHost } from "./shell-host";

/** An additional export of our copy of the shell, which counts its steps. */
declare module "just-bash/browser" {
  export function provideHost(host: ShellHost): void;
}
