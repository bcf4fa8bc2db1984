import { afterEach, describe, expect, it, vi } from "vitest";
import { Containers } from "../../../../durable-objects/session/tools/containers";
import { toolboxOf } from "../../../../durable-objects/session/tools/toolbox";
import { withOverrides } from "../../../../src/config/turn-overrides";
import type { CommandPlace, SandboxClient } from "../../../../src/tools/shell";
import { Breakers } from "../../../../src/tools/breaker";
import { Mutex } from "../../../../src/async/mutex";
import { fixedTeams } from "../../../builders/fixed-teams";
import { FULL_CONTEXT, teamOf } from "../../../config/teams";
import { workingAgent } from "./tool-rig";

/**
 * The containers of a session's agents: interrupted commands, and the destruction of the containers
 * when the session is erased.
 */

type Namespace = NonNullable<ConstructorParameters<typeof Containers>[0]["sandboxes"]>;

/**
 * Simulated containers without files. A command ends only when `endCommands` is called. While
 * `isDown`, containers cannot be destroyed.
 */
class Fleet {
  readonly commands: string[] = [];
  readonly destroyed: string[] = [];
  isDown = false;
  #held: (() => void)[] = [];

  /** Ends all running commands. */
  endCommands(): void {
    for (const end of this.#held.splice(0)) end();
  }

  get namespace(): Namespace {
    const bound = {
      idFromName: (name: string) => name,
      get: (name: string) => this.#container(name),
    };
    return bound as unknown as Namespace;
  }

  #container(name: string): SandboxClient {
    const done = { exitCode: 0, stdout: "", stderr: "" };
    return {
      exec: async (line) => {
        if (line.startsWith("setsid ")) await new Promise<void>((end) => this.#held.push(end));
        return done;
      },
      writeFile: async (path, content) => {
        if (path === "/tmp/.agent-command") this.commands.push(`${name}: ${content}`);
        return { success: true };
      },
      readFile: async () => ({ success: false, content: "" }),
      destroy: async () => {
        if (this.isDown) throw new Error("Network connection lost.");
        this.destroyed.push(name);
      },
    };
  }
}

const YAML = "agent: {id: a, backend: {type: claude, cwd: work, enable_mcp_command_line: true}}";
const POST = { name: "run_command", args: { command: "curl -X POST https://shop.example/orders" } };

const NO_OTHERS = { javascript: null, readsResults: false };

describe("a session's containers", () => {
  let fleet: Fleet;
  let agent: ReturnType<typeof workingAgent>;
  const working = (rulesFor: CommandPlace, bound: CommandPlace = rulesFor) => {
    fleet = new Fleet();
    const team = teamOf(YAML, { ...FULL_CONTEXT, commands: rulesFor });
    const teams = fixedTeams(team);
    const sandboxes = bound === "service" ? undefined : fleet.namespace;
    agent = workingAgent([], [POST], {
      team,
      containers: () => new Containers({ sandboxes, place: bound, session: "s", teams }),
      tools: (containers) => {
        const [own] = team.agents;
        if (!own) throw new Error("a team has an agent");
        const shared = { large: new Mutex(), breakers: new Breakers() };
        return toolboxOf(own, {
          secretOf: () => undefined,
          shared,
          runner: () => containers.runnerOf(0),
          ...NO_OTHERS,
        });
      },
    });
    agent.ask();
  };
  const waitForCommands = (count: number) =>
    vi.waitFor(() => expect(fleet.commands).toHaveLength(count), 10_000);
  const isOver = () => vi.waitFor(() => expect(agent.isOver()).toBe(true), 10_000);
  const settlements = () =>
    agent
      .events()
      .flatMap(({ type }) => (/^tool\.(completed|interrupted|unknown)$/.test(type) ? [type] : []));
  afterEach(() => {
    fleet.endCommands();
    agent.close();
  });

  it("do not repeat an interrupted command if they may have a network, because its effect is unknown", async () => {
    working("open_container");
    await waitForCommands(1);
    await agent.restart();
    await isOver();
    expect(fleet.commands).toEqual([`s-1: ${POST.args.command}`]);
    expect(settlements()).toEqual(["tool.unknown"]);
  });

  it("repeat an interrupted command if the operator declares that they have no network", async () => {
    working("closed_container");
    await waitForCommands(1);
    await agent.restart();
    await waitForCommands(2);
    fleet.endCommands();
    await isOver();
    expect(settlements()).toEqual(["tool.interrupted", "tool.completed"]);
  });

  it("are not used by a session whose rules allow only the shell of the service", async () => {
    working("service", "open_container");
    await isOver();
    expect(fleet.commands).toEqual([]);
    expect(agent.ended()).toEqual(["run_command ok"]);
  });

  it("are destroyed before the session is erased, also while a command runs", async () => {
    working("open_container");
    await waitForCommands(1);
    const stopped = agent.stop();
    await vi.waitFor(() => expect(fleet.destroyed).toEqual(["s-1"]), 10_000);
    fleet.endCommands(); // The running command may have started the container again.
    await stopped;
    expect(fleet.destroyed).toEqual(["s-1", "s-1"]);
  });

  it("that cannot be destroyed prevent the erasure, and the destruction is retried at the alarm", async () => {
    working("closed_container");
    await waitForCommands(1);
    fleet.endCommands();
    await isOver();
    fleet.isDown = true;
    await expect(agent.stop()).rejects.toThrow("Network connection lost.");
    await vi.waitFor(() => expect(agent.alarmAt()).not.toBeNull(), 10_000);
    fleet.isDown = false;
    await agent.restart(); // like the alarm of an object that is not in memory
    await agent.session().engine.wake();
    await vi.waitFor(() => expect(fleet.destroyed).toEqual(["s-1"]), 10_000);
    await agent.stop();
  });
});

const containersOf = (sandboxes: Namespace | undefined, teams: ReturnType<typeof fixedTeams>) =>
  new Containers({ sandboxes, place: "closed_container", session: "s", teams });

describe("the container of an agent", () => {
  it("is the same in a turn in which agents before it take no part", () => {
    const fleet = new Fleet();
    const team = teamOf(
      "agents: [{id: x, backend: {type: claude}}, {id: y, backend: {type: claude, enable_mcp_command_line: true}}]",
      FULL_CONTEXT,
    );
    const overridden = withOverrides(team, { agents: ["y"] });
    if (!overridden.ok) throw new Error("the overrides fit the team");
    expect(containersOf(fleet.namespace, fixedTeams(overridden.team)).jobs()).toEqual([
      { type: "destroy_container", name: "s-2" },
    ]);
  });
});

describe("the jobs that destroy containers", () => {
  it("exist only for agents with a shell, and only if the deployment has containers", () => {
    const fleet = new Fleet();
    const withShell = teamOf(YAML, FULL_CONTEXT);
    const withoutShell = teamOf("agent: {id: a, backend: {type: claude, cwd: work}}", FULL_CONTEXT);
    const jobsOf = (sandboxes: Namespace | undefined, team: typeof withShell) =>
      containersOf(sandboxes, fixedTeams(team)).jobs();
    expect(jobsOf(fleet.namespace, withShell)).toEqual([
      { type: "destroy_container", name: "s-1" },
    ]);
    expect(jobsOf(undefined, withShell)).toEqual([]);
    expect(jobsOf(fleet.namespace, withoutShell)).toEqual([]);
  });

  it("exist for the agents of every team of the session, each once", () => {
    const fleet = new Fleet();
    const alone = teamOf(YAML, FULL_CONTEXT);
    const both = teamOf(
      "agents: [{id: x, backend: {type: claude}}, {id: y, backend: {type: claude, enable_mcp_command_line: true}}]",
      FULL_CONTEXT,
    );
    const all = () => [alone, both, alone];
    expect(containersOf(fleet.namespace, { ...fixedTeams(both), all }).jobs()).toEqual([
      { type: "destroy_container", name: "s-1" },
      { type: "destroy_container", name: "s-2" },
    ]);
  });
});
