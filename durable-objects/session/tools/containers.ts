import { withTimeout } from "../../../src/async/timeout";
import type { Team } from "../../../src/config/team";
import {
  CommandFilter,
  type CommandPlace,
  type CommandRunner,
  filtered,
  hasCommands,
  justBashRunner,
  placeUnder,
  type SandboxRunner,
  sandboxRunner,
} from "../../../src/tools/shell";
import type { Env } from "../../../src/env";
import { CONTAINER_LIMIT_MS } from "../../shared/object-limits";

/** A job that is done when the session is erased. Idempotent. */
export type ContainerJob = { type: "destroy_container"; name: string };

type Options = {
  /** Undefined if the deployment has no containers. */
  sandboxes: Env["SANDBOX"];
  place: CommandPlace;
  session: string;
  team: Team;
};

/**
 * Runs the commands of a session's agents. A command runs in the agent's own container if the
 * deployment has containers and the agent's rules allow one. Otherwise it runs in the simulated
 * shell of the service.
 */
export class Containers {
  readonly #options: Options;
  readonly #runners = new Map<string, SandboxRunner>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** The runner of the agent at this index. */
  runnerOf(agent: number): CommandRunner {
    const { place, team } = this.#options;
    const name = this.#nameOf(agent);
    const commandPlace = placeUnder(team.rules.agents[agent]?.tools ?? [], place);
    const sandbox = commandPlace === "service" ? null : this.#sandbox(name);
    const patterns = team.agents[agent]?.workspace?.commands;
    const filter = patterns ? new CommandFilter(patterns) : null;
    if (!sandbox) return justBashRunner(() => Date.now(), { filter });
    const runner =
      this.#runners.get(name) ??
      sandboxRunner(sandbox, { actsOutside: commandPlace === "open_container" });
    this.#runners.set(name, runner);
    return filter ? filtered(runner, filter) : runner;
  }

  /** The jobs that destroy the containers: one for every agent that may have one. */
  jobs(): ContainerJob[] {
    if (!this.#options.sandboxes) return [];
    return this.#options.team.rules.agents.flatMap(({ tools }, agent) =>
      hasCommands(tools) ? [{ type: "destroy_container", name: this.#nameOf(agent) }] : [],
    );
  }

  /**
   * Destroys a container. Throws if that fails; then the job must be repeated. Succeeds for a
   * container that never ran.
   */
  async perform({ name }: ContainerJob): Promise<void> {
    const sandbox = this.#sandbox(name);
    // Without the container class in the deployment, no container exists.
    if (!sandbox) return;
    const commandsInProgress = this.#runners.get(name)?.underWay() ?? null;
    await withContainerTimeout(sandbox.destroy());
    if (!commandsInProgress) return;
    // Commands in progress may have started the container again.
    await withContainerTimeout(commandsInProgress);
    await withContainerTimeout(sandbox.destroy());
  }

  #sandbox(name: string) {
    const { sandboxes } = this.#options;
    return sandboxes ? sandboxes.get(sandboxes.idFromName(name)) : null;
  }

  readonly #nameOf = (agent: number): string => `${this.#options.session}-${agent + 1}`;
}

const withContainerTimeout = (work: Promise<unknown>): Promise<unknown> =>
  withTimeout(
    CONTAINER_LIMIT_MS,
    () => work,
    () => new Error(`a container did not answer within ${CONTAINER_LIMIT_MS / 1000} s`),
  );
