import { describe, expect, it } from "vitest";
import { checkTeam } from "../../src/config/parse-team";
import { parseToolSecrets, secretsFor, withOwnSecrets } from "../../src/config/tool-secrets";
import { describeBindings } from "../../src/tools/secret-bindings";
import { justBashRunner, runCommandTool } from "../../src/tools/shell";
import { FULL_CONTEXT, teamOf } from "./teams";

const CONTEXT = {
  ...FULL_CONTEXT,
  toolSecrets: parseToolSecrets("WEATHER_KEY=https://api.weather.net, OTHER=https://other.net/v1"),
  repeatableTools: ["https://api.weather.net/search"],
};
const agent = (tools: string, more = "") =>
  `agent: {id: a, backend: {type: claude${more}, custom_tools: [${tools}]}}`;
const toolOf = (tools: string, more = "") => teamOf(agent(tools, more), CONTEXT);
const problemText = (tools: string) => {
  const { errors, refusals } = checkTeam(agent(tools), CONTEXT);
  return [...errors, ...refusals]
    .map(({ code, pointer, detail }) => `${code} ${pointer}: ${detail}`)
    .join("\n");
};

const WEATHER = `{
  name: weather, description: Tells the weather., url: 'https://api.weather.net/v1/{city}/now',
  parameters: {type: object, properties: {city: {type: string}, units: {enum: [c, f]}}, required: [city]},
  headers: {Authorization: 'Bearer \${WEATHER_KEY}', Accept: application/json}, preset_args: {units: c}, timeout_seconds: 5}`;
const with_ = (lines: string) => `{name: t, description: d, ${lines}}`;

/** Agents without files read large results of such tools in pages. */
const READS_RESULTS = { name: "read_tool_result", acts_outside: false, idempotent: true };

describe("a tool over HTTP", () => {
  it("has the data of its entry, with names of secrets instead of values", () => {
    const { agents, rules } = toolOf(WEATHER);
    expect(agents[0]?.httpTools).toEqual([
      {
        name: "weather",
        description: "Tells the weather.",
        parameters: {
          type: "object",
          properties: { city: { type: "string" }, units: { enum: ["c", "f"] } },
          required: ["city"],
        },
        method: "GET",
        url: "https://api.weather.net/v1/{city}/now",
        headers: { authorization: "Bearer ${WEATHER_KEY}", accept: "application/json" },
        preset: { units: "c" },
        timeoutMs: 5_000,
        repeatable: false,
      },
    ]);
    expect(rules.agents[0]?.tools).toEqual([
      READS_RESULTS,
      { name: "weather", acts_outside: false, idempotent: true },
    ]);
  });

  it.each([
    { lines: "url: 'https://x.net/a'", rule: { acts_outside: false, idempotent: true } },
    {
      lines: "url: 'https://x.net/a', method: POST",
      rule: { acts_outside: true, idempotent: false },
    },
    {
      lines: "url: 'https://x.net/a', method: DELETE",
      rule: { acts_outside: true, idempotent: false },
    },
    {
      lines: "url: 'https://api.weather.net/search', method: POST",
      rule: { acts_outside: true, idempotent: true },
    },
    {
      lines: "url: 'https://api.weather.net/search/deep?x=1', method: POST",
      rule: { acts_outside: true, idempotent: true },
    },
    {
      lines: "url: 'https://api.weather.net/searches', method: POST",
      rule: { acts_outside: true, idempotent: false },
    },
    {
      lines: "url: 'https://api.weather.net.evil.net/search', method: POST",
      rule: { acts_outside: true, idempotent: false },
    },
  ])("is classified for the rules by its method and its settings: $lines", ({ lines, rule }) => {
    expect(toolOf(with_(lines)).rules.agents[0]?.tools).toEqual([
      READS_RESULTS,
      { name: "t", ...rule },
    ]);
  });

  it("may be listed by its name, and is omitted if it is excluded", () => {
    const source = (more: string) =>
      `agent: {id: a, backend: {type: claude, custom_tools: {look: {url: 'https://x.net', description: d}}${more}}}`;
    expect(teamOf(source(""), CONTEXT).agents[0]?.httpTools?.map(({ name }) => name)).toEqual([
      "look",
    ]);
    expect(
      teamOf(source(", exclude_custom_tools: [look]"), CONTEXT).agents[0]?.httpTools,
    ).toBeUndefined();
  });

  it.each<{ name: string; lines: string; says: string }>([
    {
      name: "no description",
      lines: "name: x, url: 'https://x.net'",
      says: "description is missing",
    },
    {
      name: "a secret in its address",
      lines: "url: 'https://x.net/?k=${WEATHER_KEY}'",
      says: "secrets belong in `headers`",
    },
    {
      name: "a host from an argument",
      lines: "url: 'https://{host}/x'",
      says: "with a fixed host",
    },
    {
      name: "a user from an argument",
      lines: "url: 'https://{u}@x.net/x'",
      says: "with a fixed host",
    },
    {
      name: "a port from an argument",
      lines: "url: 'https://x.net:{p}/x'",
      says: "with a fixed host",
    },
    {
      name: "a backslash before its path",
      lines: "url: 'https://x.net\\{h}/x'",
      says: "with a fixed host",
    },
    {
      name: "a private address",
      lines: "url: 'https://169.254.169.254/x'",
      says: "cannot or must not reach",
    },
    { name: "plain http", lines: "url: 'http://x.net/'", says: "must begin with https://" },
    {
      name: "a credential in its query",
      lines: "url: 'https://x.net/?api_key=abcdef'",
      says: "must not contain `api_key`",
    },
    {
      name: "an argument without a description",
      lines: "url: 'https://x.net/{id}'",
      says: "The tool has no argument `id`",
    },
    {
      name: "half a placeholder",
      lines: "url: 'https://x.net/{id'",
      says: "a brace outside of an",
    },
    {
      name: "an unknown method",
      lines: "url: 'https://x.net', method: TRACE",
      says: "method must be GET, POST, PUT, PATCH, DELETE",
    },
    {
      name: "arguments without names",
      lines: "url: 'https://x.net', parameters: {type: string}",
      says: "parameters must be a JSON Schema with `type: object`",
    },
    {
      name: "a reference",
      lines:
        "url: 'https://x.net', parameters: {type: object, properties: {a: {$ref: 'http://169.254.169.254/'}}}",
      says: "/custom_tools/0/parameters/properties/a/$ref: parameters.properties.a.$ref is not taken here",
    },
    {
      name: "a header that the service sets",
      lines: "url: 'https://x.net', headers: {Host: y}",
      says: "The service sets `Host` itself",
    },
    {
      name: "a header with a line break",
      lines: 'url: "https://x.net", headers: {X: "a\\nb"}',
      says: "printable ASCII characters",
    },
    {
      name: "a credential in clear",
      lines: "url: 'https://x.net', headers: {Authorization: Bearer abcdefgh}",
      says: "write ${NAME} of a secret that is bound to https://x.net",
    },
    {
      name: "a key in another header",
      lines: `url: 'https://x.net', headers: {X: sk-${"a".repeat(20)}}`,
      says: "looks like a key",
    },
    {
      name: "a secret bound to another origin",
      lines: "url: 'https://evil.net', headers: {X: '${WEATHER_KEY}'}",
      says: "key_bound_elsewhere /agent/backend/custom_tools/0/headers/X: ${WEATHER_KEY} may be sent only to https://api.weather.net",
    },
    {
      name: "a provider's key",
      lines: "url: 'https://evil.net', headers: {X: '${OPENAI_API_KEY}'}",
      says: "key_unknown /agent/backend/custom_tools/0/headers/X: ${OPENAI_API_KEY} is not a secret for tools",
    },
    {
      name: "a credential among its presets",
      lines: "url: 'https://x.net', preset_args: {token: abc}",
      says: "name of a credential",
    },
    {
      name: "a preset that an alternative of the schema requires",
      lines:
        "url: 'https://x.net', preset_args: {t: 1}, parameters: {type: object, properties: {q: {}, t: {}}, anyOf: [{required: [q, t]}]}",
      says: "not_allowed /agent/backend/custom_tools/0/parameters/anyOf/0/required: parameters.anyOf.0.required names `t`",
    },
    {
      name: "a number of arguments together with presets",
      lines:
        "url: 'https://x.net', preset_args: {t: 1}, parameters: {type: object, properties: {q: {}}, minProperties: 1}",
      says: "not_allowed /agent/backend/custom_tools/0/parameters/minProperties: parameters.minProperties counts arguments",
    },
    ...["dependentRequired: {q: [t]}", "if: {required: [t]}", "then: {required: [t]}"].map(
      (keyword) => ({
        name: `an unchecked keyword: ${keyword}`,
        lines: `url: 'https://x.net', preset_args: {t: 1}, parameters: {type: object, ${keyword}}`,
        says: "is no keyword of JSON Schema that is taken here",
      }),
    ),
    {
      name: "a misspelt key",
      lines: "url: 'https://x.net', methd: GET",
      says: "Did you mean `method`?",
    },
  ])("is refused for $name", ({ lines, says }) => {
    expect(problemText(lines.startsWith("name:") ? `{${lines}}` : with_(lines))).toContain(says);
  });
});

describe("a tool whose schema a wire format cannot express", () => {
  const FIRST =
    "parameters: {type: object, properties: {a: {anyOf: [{type: string}, {not: {type: 'null'}}]}}}";
  const source = (type: string, tool: string, more = "") =>
    `agent:\n  id: a\n  backend:\n    type: ${type}\n    custom_tools:\n      - ${with_(tool)}${more}`;
  const problems = (text: string) => checkTeam(text, CONTEXT).errors;

  it.each([
    {
      name: "a nested keyword",
      lines: `url: 'https://x.net', ${FIRST}`,
      at: "/properties/a/anyOf/1/not",
      says: "`not`",
    },
    {
      name: "one of several alternatives, which have another form there",
      lines:
        "url: 'https://x.net', parameters: {type: object, properties: {a: {oneOf: [{type: string}, {not: {}}]}}}",
      at: "/properties/a",
      says: "`not`",
    },
    {
      name: "parts that contradict each other",
      lines:
        "url: 'https://x.net', parameters: {type: object, properties: {a: {allOf: [{minLength: 1}, {minLength: 2}]}}}",
      at: "/properties/a/allOf",
      says: "two of its parts say `minLength` differently",
    },
  ])("is refused at its place for $name", ({ lines, at, says }) => {
    expect(problems(source("gemini", lines))).toEqual([
      {
        code: "not_allowed",
        pointer: `/agent/backend/custom_tools/0/parameters${at}`,
        line: 6,
        column: expect.any(Number),
        detail: expect.stringContaining(says),
      },
    ]);
    expect(problems(source("gemini", lines))[0]?.detail).toContain(
      "write it into the tool's description",
    );
    expect(problems(source("claude", lines))).toEqual([]);
  });

  it("has an error with line and column of the keyword's value", () => {
    const [problem] = problems(source("gemini", `url: 'https://x.net', ${FIRST}`));
    const line = source("gemini", `url: 'https://x.net', ${FIRST}`).split("\n")[5] ?? "";
    expect(problem?.column).toBe(line.indexOf("{type: 'null'}") + 1);
  });

  it("may be in the config if it is excluded", () => {
    expect(
      problems(
        source("gemini", `url: 'https://x.net', ${FIRST}`, "\n    exclude_custom_tools: [t]"),
      ),
    ).toEqual([]);
  });

  it("is accepted if the argument has a preset", () => {
    const schema =
      "parameters: {type: object, properties: {a: {not: {}}, b: {type: string}}}, preset_args: {a: 1}";
    expect(problems(source("gemini", `url: 'https://x.net', ${schema}`))).toEqual([]);
  });
});

describe("a tool's name", () => {
  it.each([
    ["vote", "rename the tool"],
    ["read_file", "rename the tool"],
    [runCommandTool(justBashRunner(() => 0)).spec.name, "rename the tool"],
    ["mcp__x__y", "rename the tool"],
    ["'a b'", "1 to 64 letters"],
    ["'<script>'", "1 to 64 letters"],
  ])("cannot be %s", (name, says) => {
    expect(problemText(`{name: ${name}, description: d, url: 'https://x.net'}`)).toContain(says);
  });

  it("is given once", () => {
    expect(
      problemText(`current_time, {name: current_time, description: d, url: 'https://x.net'}`),
    ).toContain("duplicate");
  });
});

describe("a tool of the deployment", () => {
  it.each(["current_time", "{name: current_time}"])("is named: %s", (tool) => {
    const { agents, rules } = toolOf(tool);
    expect(agents[0]?.registryTools).toEqual(["current_time"]);
    expect(rules.agents[0]?.tools).toEqual([
      { name: "current_time", acts_outside: false, idempotent: true },
    ]);
  });

  it("that is unknown has an error with the nearest name", () => {
    expect(problemText("curent_time")).toContain(
      "Unknown tool `curent_time`. Did you mean `current_time`?",
    );
    expect(problemText("two_num_tool")).toContain(
      "Available: current_time. A tool over HTTP needs a `url`.",
    );
  });
});

it("a tool in Python is refused with a remedy", () => {
  expect(problemText("{name: [add], path: add.py, function: [add]}")).toContain(
    "write its `url` in place of `path`",
  );
});

it.each([
  ["", []],
  [
    "A=https://a.net, B=https://b.net/x,A=https://c.net",
    ["A: https://a.net, https://c.net", "B: https://b.net/x"],
  ],
  ["A@acme=https://a.net/v1, A=https://b.net", ["A@acme: https://a.net/v1", "A: https://b.net"]],
  [
    "A@acme=GET+POST https://a.net, A@acme=DELETE https://a.net/tmp",
    ["A@acme: GET+POST https://a.net, DELETE https://a.net/tmp"],
  ],
  ["A, =x, B=nowhere, 1=https://a.net", []],
  [
    "A@Acme=https://a.net, A@=https://a.net, A=GTE https://a.net, A=get https://a.net, A=GET+ https://a.net",
    [],
  ],
])(
  "TOOL_SECRETS=%s binds names to tenants, methods and addresses, and what cannot be read to nothing (M11)",
  (variable, said) => {
    const parsed = parseToolSecrets(variable).map(
      ({ name, tenant, bindings }) =>
        `${name}${tenant === null ? "" : `@${tenant}`}: ${describeBindings(bindings)}`,
    );
    expect(parsed).toEqual(said);
  },
);

it("a tenant uses the operator's secrets for it or for all tenants, and its own secrets first (M11)", () => {
  const operators = parseToolSecrets(
    "A@acme=https://a.net,A=https://b.net,B@other=https://b.net,C=https://c.net",
  );
  const own = [{ name: "C", bindings: [{ origin: "https://own.net" }] }];
  const servedTo = (tenant: string) =>
    withOwnSecrets(own, secretsFor(tenant, operators)).map(
      ({ name, bindings }) => `${name}: ${describeBindings(bindings)}`,
    );
  expect(servedTo("acme")).toEqual(["C: https://own.net", "A: https://a.net, https://b.net"]);
  expect(servedTo("other")).toEqual(["C: https://own.net", "A: https://b.net", "B: https://b.net"]);
});
