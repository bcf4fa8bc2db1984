import { describe, expect, it } from "vitest";
import { checkTeam, type ConfigContext, parseTeam } from "../../src/config/parse-team";
import { FULL_CONTEXT } from "./teams";

const CONTEXT: ConfigContext = {
  ...FULL_CONTEXT,
  allowedOrigins: [],
  toolSecrets: [
    { name: "BOX_KEY", bindings: [{ origin: "https://box.example.com" }] },
    { name: "OAUTH_SECRET", bindings: [{ origin: "https://auth.example.com" }] },
  ],
};
const BOX = "name: box, url: 'https://box.example.com/mcp'";
const withServers = (servers: string, more = "") =>
  `agent: {id: a, backend: {type: claude, mcp_servers: ${servers}${more}}}`;

function mcpOf(source: string, context = CONTEXT) {
  const result = parseTeam(source, context);
  if (!result.ok) throw new Error(result.errors.map(({ detail }) => detail).join("\n"));
  return result.team.agents[0]?.mcp;
}

const problemsOf = (source: string, context = CONTEXT) => {
  const { errors, refusals } = checkTeam(source, context);
  return [...errors, ...refusals].map(({ code, detail }) => `${code}: ${detail}`);
};

describe("a tool server over HTTP", () => {
  it("is part of the team, with default settings", () => {
    expect(mcpOf(withServers(`[{${BOX}}]`))).toEqual({
      servers: [
        {
          ...{ name: "box", url: "https://box.example.com/mcp", headers: {}, auth: null },
          ...{ connectMs: 30_000, callMs: 300_000, allowedTools: null, excludeTools: [] },
        },
      ],
      allowedTools: null,
      excludeTools: [],
    });
  });

  it("may be an entry of a mapping by name", () => {
    const mcp = mcpOf(
      withServers(
        "{box: {url: 'https://box.example.com/mcp'}, other: {url: 'https://other.example.com/mcp'}}",
      ),
    );
    expect(mcp?.servers.map(({ name }) => name)).toEqual(["box", "other"]);
  });

  it("has time limits, its own and the backend's filters, and headers with secrets", () => {
    const server = `${BOX}, timeout: 20, http_read_timeout: 60, allowed_tools: [look], exclude_tools: [mcp__box__pay], headers: {X-Key: 'Key \${BOX_KEY}'}`;
    expect(
      mcpOf(withServers(`[{${server}}]`, ", allowed_tools: [look, see], exclude_tools: [touch]")),
    ).toMatchObject({
      servers: [
        {
          ...{
            connectMs: 20_000,
            callMs: 60_000,
            allowedTools: ["look"],
            excludeTools: ["mcp__box__pay"],
          },
          headers: { "x-key": "Key ${BOX_KEY}" },
        },
      ],
      ...{ allowedTools: ["look", "see"], excludeTools: ["touch"] },
    });
  });

  it("may list tools that only read and run in planning mode (D8)", () => {
    expect(
      mcpOf(withServers(`[{${BOX}, read_only: [search_*, mcp__box__look]}]`))?.servers,
    ).toMatchObject([{ readOnlyTools: ["search_*", "mcp__box__look"] }]);
  });

  it("uses its timeout for calls too", () => {
    expect(mcpOf(withServers(`[{${BOX}, timeout: 20}]`))?.servers).toMatchObject([
      { connectMs: 20_000, callMs: 20_000 },
    ]);
  });

  it("may be private if the operator allows its exact origin for tools (H6)", () => {
    const local = withServers("[{name: box, url: 'http://127.0.0.1:8000/mcp'}]");
    expect(
      mcpOf(local, { ...CONTEXT, allowedToolOrigins: ["http://127.0.0.1:8000"] })?.servers,
    ).toMatchObject([{ url: "http://127.0.0.1:8000/mcp" }]);
    for (const refused of [CONTEXT, { ...CONTEXT, allowedOrigins: ["http://127.0.0.1:*"] }])
      expect(checkTeam(local, refused).refusals).toMatchObject([
        { need: "localhost_mcp", detail: expect.stringContaining("tunnel") },
      ]);
  });

  it("must not be this service itself, and the error does not advise to allow it (H6)", () => {
    const own = { ...CONTEXT, ownOrigins: ["http://127.0.0.1:8000"] };
    expect(problemsOf(withServers("[{name: box, url: 'http://localhost:8000/mcp'}]"), own)).toEqual(
      [expect.stringContaining("this service's own address")],
    );
  });

  it.each([
    { entry: "type: sse", error: /wrong_type: The older SSE transport/ },
    {
      entry: "headers: {Authorization: Bearer abc}",
      error: /not_allowed: The service stores no credential in clear/,
    },
    { entry: "headers: {X-Key: '${OTHER}'}", error: /key_unknown: \$\{OTHER\} is not a secret/ },
    {
      entry: "headers: {X-Key: '${OAUTH_SECRET}'}",
      error:
        /key_bound_elsewhere: \$\{OAUTH_SECRET\} may be sent only to https:\/\/auth.example.com/,
    },
    { entry: "timeout: 0", error: /out_of_range: timeout must be a whole number from 1 to 300/ },
    { entry: "allowed_tools: look", error: /wrong_type: allowed_tools must be a list of texts/ },
    {
      entry: "header: {}",
      error: /unknown_key: Unknown key `header`. Did you mean `headers`\?/,
    },
    { entry: "defer_loading: true", error: /not_served: This team needs tool search/ },
  ])("has an error for `$entry`", ({ entry, error }) => {
    expect(problemsOf(withServers(`[{${BOX}, ${entry}}]`))).toEqual([expect.stringMatching(error)]);
  });

  it.each([
    { url: "http://box.example.com/mcp", error: /must begin with https/ },
    { url: "https://u:p@box.example.com/mcp", error: /user name or password/ },
    { url: "https://box.example.com/mcp?api_key=1", error: /must not contain `api_key`/ },
    { url: "https://box.example.com/${BOX_KEY}", error: /secrets belong in `headers`/ },
    { url: "ftp://box.example.com/mcp", error: /must begin with https/ },
    { url: "box", error: /not a complete URL/ },
  ])("cannot have the address $url", ({ url, error }) => {
    expect(problemsOf(withServers(`[{name: box, url: '${url}'}]`))).toEqual([
      expect.stringMatching(error),
    ]);
  });

  it("has a unique name", () => {
    expect(problemsOf(withServers(`[{${BOX}}, {${BOX}}]`))).toEqual([
      expect.stringMatching(/^duplicate: /),
    ]);
    expect(problemsOf(withServers("[{name: 'a b', url: 'https://box.example.com/mcp'}]"))).toEqual([
      expect.stringMatching(/^out_of_range: The name of a server/),
    ]);
  });

  it("has a warning for settings without effect", () => {
    expect(
      checkTeam(withServers(`[{${BOX}, security: {level: strict}}]`), CONTEXT).warnings,
    ).toMatchObject([{ code: "no_effect", detail: expect.stringContaining("`security`") }]);
    expect(
      checkTeam("agent: {id: a, backend: {type: claude, allowed_tools: [x]}}", CONTEXT).warnings,
    ).toMatchObject([
      { code: "no_effect", detail: expect.stringContaining("no server is configured") },
    ]);
  });
});

describe("a server that is a program", () => {
  it("is refused, and the error names the command that connects it", () => {
    const { refusals } = checkTeam(
      withServers("[{name: weather, command: npx, args: [-y, weather]}]"),
      CONTEXT,
    );
    expect(refusals).toMatchObject([
      { need: "stdio_mcp", detail: expect.stringContaining("npm run bridge -- team.yaml") },
    ]);
  });
});

describe("auth of a tool server", () => {
  const withAuth = (auth: string) => withServers(`[{${BOX}, auth: {${auth}}}]`);
  const CLIENT = "issuer: 'https://auth.example.com', client_id: us";

  it("may be client credentials", () => {
    const source = withAuth(
      `type: client_credentials, ${CLIENT}, client_secret: '\${OAUTH_SECRET}', scope: read`,
    );
    expect(mcpOf(source)?.servers[0]?.auth).toEqual({
      ...{ type: "client_credentials", issuer: "https://auth.example.com", clientId: "us" },
      ...{ clientSecret: "OAUTH_SECRET", scope: "read" },
    });
  });

  it("may be tokens that a person's consent gave", () => {
    const source = withAuth(
      `type: authorization_code, ${CLIENT}, access_token: '\${BOX_KEY}', refresh_token: '\${OAUTH_SECRET}'`,
    );
    expect(mcpOf(source)?.servers[0]?.auth).toMatchObject({
      ...{ clientSecret: null, accessToken: "BOX_KEY", refreshToken: "OAUTH_SECRET" },
    });
  });

  it.each([
    {
      auth: "type: client_credentials, client_id: us, client_secret: '${OAUTH_SECRET}'",
      error: /missing: issuer is missing/,
    },
    { auth: `type: client_credentials, ${CLIENT}`, error: /missing: client_secret is missing/ },
    {
      auth: `type: client_credentials, ${CLIENT}, client_secret: hunter2`,
      error: /not_allowed: client_secret must be/,
    },
    {
      auth: `type: client_credentials, ${CLIENT}, client_secret: '\${BOX_KEY}'`,
      error: /key_bound_elsewhere: .*not to https:\/\/auth.example.com/,
    },
    {
      auth: `type: authorization_code, ${CLIENT}`,
      error: /missing: access_token or refresh_token is missing/,
    },
    { auth: `type: password, ${CLIENT}`, error: /wrong_type|out_of_range/ },
    {
      auth: "type: client_credentials, client_id: us, client_secret: '${OAUTH_SECRET}', issuer: 'http://169.254.169.254'",
      error: /base_url_refused/,
    },
  ])("has an error for {$auth}", ({ auth, error }) => {
    expect(problemsOf(withAuth(auth))[0]).toMatch(error);
  });
});
