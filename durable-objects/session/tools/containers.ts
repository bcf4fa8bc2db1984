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
import { CONTAINER_PATIENCE_MS } from "../../shared/limits";

/** To be done when the session is erased. May be done twice. */
export type ContainerJob = { type: "destroy_container"; name: string };

type Options = {
  /** Absent: the operator has bound none. */
  sandboxes: Env["SANDBOX"];
  place: CommandPlace;
  session: string;
  team: Team;
};

/** What runs the commands of a session's agents: a container of the agent's own where the operator has bound some and its rules allow it. */
export class Containers {
  readonly #options: Options;
  readonly #runners = new Map<string, SandboxRunner>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Of the agent at this index; one without a container has the shell that is part of the service. */
  runnerOf(agent: number): CommandRunner {
    const { place, team } = this.#options;
    const name = this.#nameOf(agent);
    const where = placeUnder(team.rules.agents[agent]?.tools ?? [], place);
    const sandbox = where === "service" ? null : this.#sandbox(name);
    const patterns = team.agents[agent]?.workspace?.commands;
    const filter = patterns ? new CommandFilter(patterns) : null;
    if (!sandbox) return justBashRunner(() => Date.now(), { filter });
    const runner =
      this.#runners.get(name) ??
      sandboxRunner(sandbox, { actsOutside: where === "open_container" });
    this.#runners.set(name, runner);
    return filter ? filtered(runner, filter) : runner;
  }

  /** What is to be done before nothing is left of them: for every agent that can have had one. */
  jobs(): ContainerJob[] {
    if (!this.#options.sandboxes) return [];
    return this.#options.team.rules.agents.flatMap(({ tools }, agent) =>
      hasCommands(tools) ? [{ type: "destroy_container", name: this.#nameOf(agent) }] : [],
    );
  }

  /** Throws if the container does not do its part; then it is to be done again. One that never ran is none the less gone. */
  async perform({ name }: ContainerJob): Promise<void> {
    const sandbox = this.#sandbox(name);
    if (!sandbox) return; // its class went with the binding, and all of its containers
    const underWay = this.#runners.get(name)?.underWay() ?? null;
    await withContainerTimeout(sandbox.destroy());
    if (!underWay) return;
    // What had been asked of it before may have started it anew.
    await withContainerTimeout(underWay);
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
    CONTAINER_PATIENCE_MS,
    () => work,
    () => new Error(`a container did not answer within ${CONTAINER_PATIENCE_MS / 1000} s`),
  );
