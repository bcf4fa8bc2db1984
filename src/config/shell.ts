import { type CommandPatterns, patternProblem } from "../tools/shell";
import type { ConfigContext } from "./context";
import type { Section } from "./fields";
import type { NeedId } from "./needs";
import { cut } from "./problems";
import { BACKEND } from "./backend-settings";
import { readSetting, type Setting } from "./setting";

/**
 * Settings for commands in a backend section: whether the agent has a shell, which commands it may
 * run, and requirements for containers.
 */
export type Shell = { shell: boolean; commands: CommandPatterns | null };

export function readShell(backend: Section, context: ConfigContext): Shell {
  const shell = readSetting(backend, BACKEND.shell);
  const commands = {
    allowed: readPatterns(backend, BACKEND.allowedCommands),
    blocked: readPatterns(backend, BACKEND.blockedCommands),
  };
  const inDocker = readSetting(backend, BACKEND.commandMode) === "docker";
  if (!shell) {
    warnOfIdle(
      backend,
      [BACKEND.allowedCommands, BACKEND.blockedCommands, BACKEND.commandMode, ...CONTAINER],
      BACKEND.shell.key,
    );
    return { shell: false, commands: null };
  }
  refuse(backend, "shell", BACKEND.shell.key);
  if (!inDocker) warnOfIdle(backend, CONTAINER, `${BACKEND.commandMode.key}: docker`);
  else if ((context.commands ?? "service") === "service")
    refuse(backend, "shell_docker", BACKEND.commandMode.key);
  else checkContainer(backend, context);
  return {
    shell: true,
    commands: commands.allowed.length + commands.blocked.length > 0 ? commands : null,
  };
}

const CONTAINER = [BACKEND.containerNetwork, BACKEND.containerMemory, BACKEND.containerCpus];

function refuse({ path, findings }: Section, need: NeedId, key: string): void {
  findings.refuse({ need, path: [...path, key], subject: `\`${key}\`` });
}

function readPatterns(backend: Section, setting: Setting<string[], null>): string[] {
  const patterns = readSetting(backend, setting) ?? [];
  const found = patternProblem(patterns);
  if (found === null) return patterns;
  const { index, problem } = found;
  const at = [...backend.path, setting.key, index];
  backend.findings.error(
    "out_of_range",
    at,
    `The pattern \`${cut(patterns[index] ?? "")}\` ${problem}.`,
  );
  return [];
}

function warnOfIdle(
  { path, values, findings }: Section,
  settings: readonly { key: string }[],
  without: string,
): void {
  for (const { key } of settings) {
    if ((values.get(key) ?? null) === null) continue;
    findings.warn(
      "no_effect",
      [...path, key],
      `\`${key}\` is ignored: it has no effect without \`${without}\`.`,
      "key",
    );
  }
}

/**
 * The operator declares the isolation of containers. A config that requires another one is refused.
 */
function checkContainer(backend: Section, { commands, containers }: ConfigContext): void {
  const network = readSetting(backend, BACKEND.containerNetwork);
  if (network === "none" && commands === "open_container")
    refuse(backend, "container_isolation", BACKEND.containerNetwork.key);
  if (network === "bridge" && commands === "closed_container")
    refuse(backend, "container_network", BACKEND.containerNetwork.key);
  const memory = readSetting(backend, BACKEND.containerMemory);
  if (memory !== null && megabytes(memory) < (containers?.memoryMb ?? Number.POSITIVE_INFINITY))
    refuse(backend, "container_isolation", BACKEND.containerMemory.key);
  const cpus = readSetting(backend, BACKEND.containerCpus);
  if (cpus !== null && cpus < (containers?.cpus ?? Number.POSITIVE_INFINITY))
    refuse(backend, "container_isolation", BACKEND.containerCpus.key);
}

const IN_BYTES: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

function megabytes(written: string): number {
  const unit = /[bkmg]$/i.exec(written)?.[0].toLowerCase() ?? "b";
  return (Number.parseFloat(written) * (IN_BYTES[unit] ?? 1)) / 1024 ** 2;
}
