import { type CommandPatterns, patternProblem } from "../tools/shell";
import type { ConfigContext } from "./context";
import type { Section } from "./fields";
import type { NeedId } from "./needs";
import { shortQuote } from "./problems";
import { BACKEND } from "./backend-settings";
import { readSetting, type Setting } from "./setting";

/**
 * Whether an agent may run commands, and the patterns of allowed and blocked commands; `null`
 * without patterns.
 */
export type Shell = { shell: boolean; commands: CommandPatterns | null };

/** Reads the settings for commands of a backend section. Checks its requirements for containers. */
export function readShell(backend: Section, context: ConfigContext): Shell {
  const shell = readSetting(backend, BACKEND.shell);
  const commands = {
    allowed: readPatterns(backend, BACKEND.allowedCommands),
    blocked: readPatterns(backend, BACKEND.blockedCommands),
  };
  const inDocker = readSetting(backend, BACKEND.commandMode) === "docker";
  if (!shell) {
    warnOfUseless(
      backend,
      [
        BACKEND.allowedCommands,
        BACKEND.blockedCommands,
        BACKEND.commandMode,
        ...CONTAINER_SETTINGS,
      ],
      BACKEND.shell.key,
    );
    return { shell: false, commands: null };
  }
  refuse(backend, "shell", BACKEND.shell.key);
  if (!inDocker) warnOfUseless(backend, CONTAINER_SETTINGS, `${BACKEND.commandMode.key}: docker`);
  else if ((context.commands ?? "service") === "service")
    refuse(backend, "shell_docker", BACKEND.commandMode.key);
  else checkContainer(backend, context);
  return {
    shell: true,
    commands: commands.allowed.length + commands.blocked.length > 0 ? commands : null,
  };
}

const CONTAINER_SETTINGS = [
  BACKEND.containerNetwork,
  BACKEND.containerMemory,
  BACKEND.containerCpus,
];

function refuse({ path, findings }: Section, need: NeedId, key: string): void {
  findings.refuse({ need, path: [...path, key], subject: `\`${key}\`` });
}

function readPatterns(backend: Section, setting: Setting<string[], null>): string[] {
  const patterns = readSetting(backend, setting) ?? [];
  const invalid = patternProblem(patterns);
  if (invalid === null) return patterns;
  const { index, problem } = invalid;
  const path = [...backend.path, setting.key, index];
  backend.findings.error(
    "out_of_range",
    path,
    `The pattern \`${shortQuote(patterns[index] ?? "")}\` ${problem}.`,
  );
  return [];
}

/** Warns about settings that have no effect without the setting `required`. */
function warnOfUseless(
  { path, values, findings }: Section,
  settings: readonly { key: string }[],
  required: string,
): void {
  for (const { key } of settings) {
    if ((values.get(key) ?? null) === null) continue;
    findings.warn(
      "no_effect",
      [...path, key],
      `\`${key}\` is ignored: it has no effect without \`${required}\`.`,
      "key",
    );
  }
}

/**
 * Refuses requirements for containers that the operator's containers do not meet. The operator
 * declares their network, memory and CPUs.
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

const UNIT_BYTES: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };

function megabytes(memory: string): number {
  const unit = /[bkmg]$/i.exec(memory)?.[0].toLowerCase() ?? "b";
  return (Number.parseFloat(memory) * (UNIT_BYTES[unit] ?? 1)) / 1024 ** 2;
}
