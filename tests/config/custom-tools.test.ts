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
const withTools = (tools: string, more = "") =>
  `agent: {id: a, backend: {type: claude${more}, custom_tools: [${tools}]}}`;
const toolOf = (tools: string, more = "") => teamOf(withTools(tools, more), CONTEXT);
const problemText = (tools: string) => {
  const { errors, refusals } = checkTeam(withTools(tools), CONTEXT);
  return [...errors, ...refusals]
    .map(({ code, pointer, detail }) => `${code} ${pointer}: ${detail}`)
    .join("\n");
};

const WEATHER = `{
  name: weather, description: Tells the weather., url: 'https://api.weather.net/v1/{city}/now',
  parameters: {type: object, properties: {city: {type: string}, units: {enum: [c, f]}}, required: [city]},
  headers: {Authorization: 'Bearer \${WEATHER_KEY}', Accept: application/json}, preset_args: {units: c}, timeout_seconds: 5}`;
const withLines = (lines: string) => `{name: t, description: d, ${lines}}`;

/** The tool with which an agent without files reads large results of other tools. */
const READS_RESULTS = { name: "read_tool_result", acts_outside: false, idempotent: true };

describe("a tool over HTTP", () => {
  it("has the data of its config entry, with the names of secrets, not their values", () => {
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
  ])("has rules that follow from its method and its address: $lines", ({ lines, rule }) => {
    expect(toolOf(withLines(lines)).rules.agents[0]?.tools).toEqual([
      READS_RESULTS,
      { name: "t", ...rule },
    ]);
  });

  it("may be an entry of a mapping by name, and is omitted if it is excluded", () => {
    const source = (more: string) =>
      `agent: {id: a, backend: {type: claude, custom_tools: {look: {url: 'https://x.net', description: d}}${more}}}`;
    expect(teamOf(source(""), CONTEXT).agents[0]?.httpTools?.map(({ name }) => name)).toEqual([
      "look",
    ]);
    expect(
      teamOf(source(", exclude_custom_tools: [look]"), CONTEXT).agents[0]?.httpTools,
    ).toBeUndefined();
  });

  it.each<{ name: string; lines: string; message: string }>([
    {
      name: "no description",
      lines: "name: x, url: 'https://x.net'",
      message: "description is missing",
    },
    {
      name: "a secret in its address",
      lines: "url: 'https://x.net/?k=${WEATHER_KEY}'",
      message: "secrets belong in `headers`",
    },
    {
      name: "a host from an argument",
      lines: "url: 'https://{host}/x'",
      message: "with a fixed host",
    },
    {
      name: "a user from an argument",
      lines: "url: 'https://{u}@x.net/x'",
      message: "with a fixed host",
    },
    {
      name: "a port from an argument",
      lines: "url: 'https://x.net:{p}/x'",
      message: "with a fixed host",
    },
    {
      name: "a backslash before its path",
      lines: "url: 'https://x.net\\{h}/x'",
      message: "with a fixed host",
    },
    {
      name: "a private address",
      lines: "url: 'https://169.254.169.254/x'",
      message: "cannot or must not reach",
    },
    { name: "plain http", lines: "url: 'http://x.net/'", message: "must begin with https://" },
    {
      name: "a credential in its query",
      lines: "url: 'https://x.net/?api_key=abcdef'",
      message: "must not contain `api_key`",
    },
    {
      name: "a placeholder that is no argument",
      lines: "url: 'https://x.net/{id}'",
      message: "The tool has no argument `id`",
    },
    {
      name: "a placeholder without its closing brace",
      lines: "url: 'https://x.net/{id'",
      message: "a brace outside of an",
    },
    {
      name: "an unknown method",
      lines: "url: 'https://x.net', method: TRACE",
      message: "method must be GET, POST, PUT, PATCH, DELETE",
    },
    {
      name: "parameters that are no object",
      lines: "url: 'https://x.net', parameters: {type: string}",
      message: "parameters must be a JSON Schema with `type: object`",
    },
    {
      name: "a reference in the schema",
      lines:
        "url: 'https://x.net', parameters: {type: object, properties: {a: {$ref: 'http://169.254.169.254/'}}}",
      message:
        "/custom_tools/0/parameters/properties/a/$ref: parameters.properties.a.$ref is not taken here",
    },
    {
      name: "a header that the service sets",
      lines: "url: 'https://x.net', headers: {Host: y}",
      message: "The service sets `Host` itself",
    },
    {
      name: "a header with a line break",
      lines: 'url: "https://x.net", headers: {X: "a\\nb"}',
      message: "printable ASCII characters",
    },
    {
      name: "a credential in the config itself",
      lines: "url: 'https://x.net', headers: {Authorization: Bearer abcdefgh}",
      message: "write ${NAME} of a secret that is bound to https://x.net",
    },
    {
      name: "a key in another header",
      lines: `url: 'https://x.net', headers: {X: sk-${"a".repeat(20)}}`,
      message: "looks like a key",
    },
    {
      name: "a secret bound to another origin",
      lines: "url: 'https://evil.net', headers: {X: '${WEATHER_KEY}'}",
      message:
        "key_bound_elsewhere /agent/backend/custom_tools/0/headers/X: ${WEATHER_KEY} may be sent only to https://api.weather.net",
    },
    {
      name: "a provider's key",
      lines: "url: 'https://evil.net', headers: {X: '${OPENAI_API_KEY}'}",
      message:
        "key_unknown /agent/backend/custom_tools/0/headers/X: ${OPENAI_API_KEY} is not a secret for tools",
    },
    {
      name: "a credential in preset_args",
      lines: "url: 'https://x.net', preset_args: {token: abc}",
      message: "name of a credential",
    },
    {
      name: "a preset that an alternative of the schema requires",
      lines:
        "url: 'https://x.net', preset_args: {t: 1}, parameters: {type: object, properties: {q: {}, t: {}}, anyOf: [{required: [q, t]}]}",
      message:
        "not_allowed /agent/backend/custom_tools/0/parameters/anyOf/0/required: parameters.anyOf.0.required names `t`",
    },
    {
      name: "a minimum number of arguments together with presets",
      lines:
        "url: 'https://x.net', preset_args: {t: 1}, parameters: {type: object, properties: {q: {}}, minProperties: 1}",
      message:
        "not_allowed /agent/backend/custom_tools/0/parameters/minProperties: parameters.minProperties counts arguments",
    },
    ...["dependentRequired: {q: [t]}", "if: {required: [t]}", "then: {required: [t]}"].map(
      (keyword) => ({
        name: `an unchecked keyword: ${keyword}`,
        lines: `url: 'https://x.net', preset_args: {t: 1}, parameters: {type: object, ${keyword}}`,
        message: "is no keyword of JSON Schema that is taken here",
      }),
    ),
    {
      name: "a misspelled key",
      lines: "url: 'https://x.net', methd: GET",
      message: "Did you mean `method`?",
    },
  ])("is refused for $name", ({ lines, message }) => {
    expect(problemText(lines.startsWith("name:") ? `{${lines}}` : withLines(lines))).toContain(
      message,
    );
  });
});

describe("a tool whose schema a wire format cannot express", () => {
  const FIRST =
    "parameters: {type: object, properties: {a: {anyOf: [{type: string}, {not: {type: 'null'}}]}}}";
  const source = (type: string, tool: string, more = "") =>
    `agent:\n  id: a\n  backend:\n    type: ${type}\n    custom_tools:\n      - ${withLines(tool)}${more}`;
  const problems = (text: string) => checkTeam(text, CONTEXT).errors;

  it.each([
    {
      name: "a nested keyword",
      lines: `url: 'https://x.net', ${FIRST}`,
      pointer: "/properties/a/anyOf/1/not",
      message: "`not`",
    },
    {
      name: "one of several alternatives, which the format writes in another form",
      lines:
        "url: 'https://x.net', parameters: {type: object, properties: {a: {oneOf: [{type: string}, {not: {}}]}}}",
      pointer: "/properties/a",
      message: "`not`",
    },
    {
      name: "parts of a schema that contradict each other",
      lines:
        "url: 'https://x.net', parameters: {type: object, properties: {a: {allOf: [{minLength: 1}, {minLength: 2}]}}}",
      pointer: "/properties/a/allOf",
      message: "two of its parts say `minLength` differently",
    },
  ])("is refused, with the position of the keyword, for $name", ({ lines, pointer, message }) => {
    expect(problems(source("gemini", lines))).toEqual([
      {
        code: "not_allowed",
        pointer: `/agent/backend/custom_tools/0/parameters${pointer}`,
        line: 6,
        column: expect.any(Number),
        detail: expect.stringContaining(message),
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

  it("may be in the config if the agent does not get the tool", () => {
    expect(
      problems(
        source("gemini", `url: 'https://x.net', ${FIRST}`, "\n    exclude_custom_tools: [t]"),
      ),
    ).toEqual([]);
  });

  it("is accepted if only a preset argument is affected", () => {
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
  ])("cannot be %s", (name, message) => {
    expect(problemText(`{name: ${name}, description: d, url: 'https://x.net'}`)).toContain(message);
  });

  it("is unique", () => {
    expect(
      problemText(`current_time, {name: current_time, description: d, url: 'https://x.net'}`),
    ).toContain("duplicate");
  });
});

describe("a registered tool", () => {
  it.each(["current_time", "{name: current_time}"])("is selected by its name: %s", (tool) => {
    const { agents, rules } = toolOf(tool);
    expect(agents[0]?.registryTools).toEqual(["current_time"]);
    expect(rules.agents[0]?.tools).toEqual([
      { name: "current_time", acts_outside: false, idempotent: true },
    ]);
  });

  it("with an unknown name has an error with the nearest name, or with all names", () => {
    expect(problemText("curent_time")).toContain(
      "Unknown tool `curent_time`. Did you mean `current_time`?",
    );
    expect(problemText("two_num_tool")).toContain(
      "Available: current_time. A tool over HTTP needs a `url`.",
    );
  });
});

it("a Python tool is refused, and the error names the alternative", () => {
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
  "TOOL_SECRETS=%s binds names to tenants, methods and addresses, without its invalid entries (M11)",
  (variable, expected) => {
    const parsed = parseToolSecrets(variable).map(
      ({ name, tenant, bindings }) =>
        `${name}${tenant === null ? "" : `@${tenant}`}: ${describeBindings(bindings)}`,
    );
    expect(parsed).toEqual(expected);
  },
);

it("a tenant can use its own secrets, and the operator's secrets for this tenant or for all tenants (M11)", () => {
  const operators = parseToolSecrets(
    "A@acme=https://a.net,A=https://b.net,B@other=https://b.net,C=https://c.net",
  );
  const own = [{ name: "C", bindings: [{ origin: "https://own.net" }] }];
  const secretsOf = (tenant: string) =>
    withOwnSecrets(own, secretsFor(tenant, operators)).map(
      ({ name, bindings }) => `${name}: ${describeBindings(bindings)}`,
    );
  expect(secretsOf("acme")).toEqual(["C: https://own.net", "A: https://a.net, https://b.net"]);
  expect(secretsOf("other")).toEqual([
    "C: https://own.net",
    "A: https://b.net",
    "B: https://b.net",
  ]);
});
