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
import { numberOf } from "../../../src/protocol/turn-team";
import { CONTAINER_LIMIT_MS } from "../../shared/object-limits";
import type { TurnTeams } from "../turn-teams";

/** A job that is done when the session is erased. Idempotent. */
export type ContainerJob = { type: "destroy_container"; name: string };

type Options = {
  /** Undefined if the deployment has no containers. */
  sandboxes: Env["SANDBOX"];
  place: CommandPlace;
  session: string;
  teams: Pick<TurnTeams, "current" | "all">;
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
    const { place, teams } = this.#options;
    const team = teams.current();
    const name = this.#nameOf(team, agent);
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
    const names = this.#options.teams
      .all()
      .flatMap((team) =>
        team.rules.agents.flatMap(({ tools }, agent) =>
          hasCommands(tools) ? [this.#nameOf(team, agent)] : [],
        ),
      );
    return [...new Set(names)].map((name) => ({ type: "destroy_container", name }));
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

  /** The same agent has the same container in each turn, also in turns without other agents. */
  #nameOf({ rules }: Team, agent: number): string {
    return `${this.#options.session}-${numberOf(rules.agents[agent], agent)}`;
  }
}

const withContainerTimeout = (work: Promise<unknown>): Promise<unknown> =>
  withTimeout(
    CONTAINER_LIMIT_MS,
    () => work,
    () => new Error(`a container did not answer within ${CONTAINER_LIMIT_MS / 1000} s`),
  );
