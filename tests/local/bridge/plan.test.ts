import { describe, expect, it } from "vitest";
import { planBridge } from "../../../local/bridge/plan";
import { checkTeam } from "../../../src/config/parse-team";
import { FULL_CONTEXT } from "../../config/teams";

const OPTIONS = {
  host: "127.0.0.1",
  port: 9000,
  urls: new Map<string, string>(),
  variables: { HOME_KEY: "k1" },
  directory: "/home/me",
};
const TEAM = `# my team
agents:
  - id: a
    backend:
      type: claude # the good one
      mcp_servers:
        - name: weather
          type: stdio
          command: npx
          args: ["-y", "weather", "\${cwd}"]
          env: { KEY: "\${HOME_KEY}" }
          security: { level: high }
          exclude_tools: [storm]
        - { name: remote, type: streamable-http, url: "https://mcp.example.com/mcp" }
  - id: b
    backend:
      type: claude
      mcp_servers:
        weather: { command: [npx, -y, weather, "\${cwd}"], env: { KEY: k1 } }
        other: { command: other }
`;

describe("the plan of a bridge", () => {
  const { programs, config, problems } = planBridge(TEAM, OPTIONS);

  it("starts each program once, with the values of the user's variables", () => {
    expect(problems).toEqual([]);
    expect(programs).toMatchObject([
      {
        name: "weather",
        command: "npx",
        args: ["-y", "weather", "/home/me"],
        env: { KEY: "k1" },
        port: 9000,
        url: "http://127.0.0.1:9000/mcp",
      },
      { name: "other", command: "other", args: [], port: 9001 },
    ]);
  });

  it("keeps comments, filters and servers with an address", () => {
    expect(config).toContain("# my team");
    expect(config).toContain("# the good one");
    expect(config).toContain("exclude_tools: [ storm ]");
    expect(config).toContain("https://mcp.example.com/mcp");
    expect(config).not.toMatch(/command|k1|security/);
  });

  it("returns a config that can run if the service may send the token", () => {
    const context = {
      ...FULL_CONTEXT,
      allowedToolOrigins: ["http://127.0.0.1:9000", "http://127.0.0.1:9001"],
      toolSecrets: [
        {
          name: "MCP_BRIDGE_TOKEN",
          bindings: [{ origin: "http://127.0.0.1:9000" }, { origin: "http://127.0.0.1:9001" }],
        },
      ],
    };
    expect(checkTeam(config, context)).toMatchObject({ errors: [], refusals: [] });
  });

  it.each([
    { host: "127.0.0.1", url: "http://127.0.0.1:9000/mcp" },
    { host: "::1", url: "http://[::1]:9000/mcp" },
    { host: "192.168.0.7", url: "http://192.168.0.7:9000/mcp" },
    { host: "0.0.0.0", url: "http://127.0.0.1:9000/mcp" },
    { host: "::", url: "http://[::1]:9000/mcp" },
  ])("names a usable address if it listens at $host", ({ host, url }) => {
    expect(planBridge(TEAM, { ...OPTIONS, host }).programs[0]?.url).toBe(url);
  });

  it("uses the address of a tunnel", () => {
    const urls = new Map([["weather", "https://me.tunnel.example.com/mcp"]]);
    expect(planBridge(TEAM, { ...OPTIONS, urls }).programs[0]?.url).toBe(
      "https://me.tunnel.example.com/mcp",
    );
  });

  const SHARED = `agents:
  - {id: a, backend: {mcp_servers: {files: {command: fs}, remote: {type: http, url: "https://mcp.example.com/mcp"}, odd: {command: one}}}}
  - {id: b, backend: {mcp_servers: {disk: {command: fs}, odd: {command: two}}}}
`;
  it.each([
    { name: "files", error: null },
    { name: "File", error: "--url File=… matches no server of the bridge (files, odd)." },
    { name: "remote", error: "--url remote=… matches no server of the bridge (files, odd)." },
    {
      name: "disk",
      error:
        "disk shares the program and address of files: write --url files=… instead of --url disk=….",
    },
    {
      name: "odd",
      error:
        "--url odd=… matches 2 different programs: give their servers different names in the config.",
    },
  ])("for the URL of $name reports: $error", ({ name, error }) => {
    const urls = new Map([[name, "https://me.tunnel.example.com/mcp"]]);
    expect(planBridge(SHARED, { ...OPTIONS, urls }).problems).toEqual(
      error === null ? [] : [error],
    );
  });

  it("reports every URL if the team has no programs", () => {
    const urls = new Map([["files", "https://me.tunnel.example.com/mcp"]]);
    expect(planBridge("agents: []", { ...OPTIONS, urls }).problems).toEqual([
      "--url files=… matches no server of the bridge.",
    ]);
  });

  describe("servers on the user's machine or network", () => {
    const teamWith = (entry: string) =>
      `agent: {id: a, backend: {type: claude, mcp_servers: [${entry}]}}\n`;
    const HOME =
      '{name: home, type: streamable-http, url: "http://localhost:8000/mcp", headers: {X-Key: "${HOME_KEY}"}, security: {level: low}}';

    it("are forwarded with their own headers, and the service sends only the token", () => {
      const { programs, config, problems } = planBridge(teamWith(HOME), OPTIONS);
      expect(problems).toEqual([]);
      const forwarded = {
        type: "server",
        target: "http://localhost:8000/mcp",
        transport: "http",
        headers: { "X-Key": "k1" },
      };
      expect(programs).toEqual([
        { ...forwarded, name: "home", port: 9000, url: "http://127.0.0.1:9000/mcp" },
      ]);
      expect(config).not.toMatch(/localhost|X-Key|security/);
      const context = {
        ...FULL_CONTEXT,
        allowedToolOrigins: ["http://127.0.0.1:9000"],
        toolSecrets: [
          { name: "MCP_BRIDGE_TOKEN", bindings: [{ origin: "http://127.0.0.1:9000" }] },
        ],
      };
      expect(checkTeam(config, context)).toMatchObject({ errors: [], refusals: [] });
    });

    it.each([
      { url: "http://localhost:8000/mcp", transport: ["http"] },
      { url: "http://192.168.0.7:8000/mcp", transport: ["http"] },
      { url: "http://nas.local/mcp", transport: ["http"] },
      { url: "https://mcp.example.com/mcp", transport: [] },
      { url: "https://mcp.example.com/localhost", transport: [] },
    ])("are forwarded at $url: $transport", ({ url, transport }) => {
      const { programs } = planBridge(teamWith(`{name: home, url: "${url}"}`), OPTIONS);
      expect(programs.map((one) => (one.type === "server" ? one.transport : one.type))).toEqual(
        transport,
      );
    });

    it("are called with the declared transport", () => {
      const { programs } = planBridge(
        teamWith('{name: home, type: sse, url: "http://localhost:8000/sse"}'),
        OPTIONS,
      );
      expect(programs).toMatchObject([{ transport: "sse" }]);
    });

    it.each([
      {
        entry: '{name: home, url: "http://localhost:1/mcp", auth: {type: oauth}}',
        error: "uses OAuth",
      },
      {
        entry: '{name: home, url: "http://localhost:1/mcp", headers: {a: "${NOWHERE}"}}',
        error: "${NOWHERE} is not set",
      },
      {
        entry: '{name: home, url: "http://localhost:1/mcp", command: []}',
        error: "has a command that cannot be started",
      },
    ])("with the error $entry are reported", ({ entry, error }) => {
      expect(planBridge(teamWith(entry), OPTIONS).problems).toEqual([
        expect.stringContaining(error),
      ]);
    });
  });

  it("reports a missing variable by name", () => {
    expect(planBridge(TEAM, { ...OPTIONS, variables: {} }).problems).toEqual([
      expect.stringContaining("${HOME_KEY} is not set"),
    ]);
  });
});
