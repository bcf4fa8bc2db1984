import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { CONTEXT, detailsOf, errorsOf, FULL_CONTEXT, teamOf, teamWith, yamlWith } from "./teams";

const backendOf = (lines: string, context = CONTEXT) =>
  teamOf(yamlWith({ backend: lines }), context).agents[0]?.backend;
const pointerTo = (key: string) => `/agents/0/backend${key}`;

describe("an agent's key", () => {
  it.each([
    ["is the operator's key for the host", "", { from: "stored", name: "OPENAI_API_KEY" }],
    [
      "is the operator's key of the given name",
      "api_key: ${OPENAI_API_KEY}",
      { from: "stored", name: "OPENAI_API_KEY" },
    ],
    ["is the caller's own key", "api_key: sk-mine", { from: "literal", value: "sk-mine" }],
    [
      "is the caller's own key for another host",
      "base_url: https://api.example.org/v1\napi_key: mine",
      { from: "literal", value: "mine" },
    ],
    ["is not needed on loopback", "base_url: http://127.0.0.1:9000/v1", { from: "none" }],
  ])("%s", (_, lines, key) => {
    expect(backendOf(lines)?.key).toEqual(key);
  });

  it.each([
    [
      "the operator's key for the host is not set",
      "base_url: https://api.groq.com/openai/v1",
      `4:7 key_not_set ${pointerTo("")}`,
    ],
    [
      "the named key is not set",
      "base_url: https://api.groq.com/openai/v1\napi_key: ${GROQ_API_KEY}",
      `7:16 key_not_set ${pointerTo("/api_key")}`,
    ],
    [
      "it is bound to another provider",
      "base_url: https://api.groq.com/openai/v1\napi_key: ${OPENAI_API_KEY}",
      `7:16 key_bound_elsewhere ${pointerTo("/api_key")}`,
    ],
    [
      "it is not bound to the caller's server",
      "base_url: https://api.example.org/v1\napi_key: ${OPENAI_API_KEY}",
      `7:16 key_bound_elsewhere ${pointerTo("/api_key")}`,
    ],
    [
      "it would be sent to a similar host",
      "base_url: https://api.openai.com.example.org/v1\napi_key: ${OPENAI_API_KEY}",
      `7:16 key_bound_elsewhere ${pointerTo("/api_key")}`,
    ],
    [
      "it would be sent to loopback",
      "base_url: http://127.0.0.1:9000/v1\napi_key: ${OPENAI_API_KEY}",
      `7:16 key_bound_elsewhere ${pointerTo("/api_key")}`,
    ],
    [
      "the name is not the name of a key",
      "api_key: ${PATH}",
      `6:16 key_unknown ${pointerTo("/api_key")}`,
    ],
    [
      "the name is a property of every object",
      "api_key: ${constructor}",
      `6:16 key_unknown ${pointerTo("/api_key")}`,
    ],
    [
      "a name is mixed with text",
      "api_key: sk-${OPENAI_API_KEY}",
      `6:16 wrong_type ${pointerTo("/api_key")}`,
    ],
    ["it contains a line break", 'api_key: "a\\r\\nb"', `6:16 wrong_type ${pointerTo("/api_key")}`],
    [
      "its braces are missing",
      "api_key: $OPENAI_API_KEY",
      `6:16 wrong_type ${pointerTo("/api_key")}`,
    ],
    [
      "it is a name without dollar sign and braces",
      "api_key: OPENAI_API_KEY",
      `6:16 wrong_type ${pointerTo("/api_key")}`,
    ],
    [
      "it is the name of a key in lower case",
      "api_key: openai_api_key",
      `6:16 wrong_type ${pointerTo("/api_key")}`,
    ],
    [
      "it looks like a variable's name",
      "api_key: MY_OWN_KEY",
      `6:16 wrong_type ${pointerTo("/api_key")}`,
    ],
    ["it is empty", 'api_key: ""', `6:16 wrong_type ${pointerTo("/api_key")}`],
  ])("is refused because %s", (_, lines, error) => {
    expect(errorsOf(yamlWith({ backend: lines }))).toContain(error);
  });

  it("is named in the error if it is missing, with the command that sets it", () => {
    const result = parseTeam(yamlWith(), { storedKeys: [], allowedOrigins: [], variables: {} });
    expect(detailsOf(result)[0]).toContain("npx wrangler secret put OPENAI_API_KEY");
    expect(detailsOf(result)[0]).toContain(".dev.vars");
  });

  it.each([
    {
      lines: "api_key: OPENAI_API_KEY",
      hint: "To use the operator's key, write `${OPENAI_API_KEY}`.",
    },
    { lines: "api_key: MY_OWN_KEY", hint: "To use the operator's key, write `${OPENAI_API_KEY}`." },
    {
      lines: "base_url: https://api.groq.com/openai/v1\napi_key: GROQ_API_KEY",
      hint: "write `${GROQ_API_KEY}`",
    },
    {
      lines: "base_url: https://api.example.org/v1\napi_key: MY_OWN_KEY",
      hint: "Write the key itself.",
    },
  ])(
    "is not the name of a variable, and the error suggests a correction: $lines",
    ({ lines, hint }) => {
      const [detail] = detailsOf(parseTeam(yamlWith({ backend: lines }), CONTEXT));
      expect(detail).toContain(hint);
      expect(detail).not.toContain("MY_OWN_KEY");
    },
  );

  it.each(["AKIAIOSFODNN7EXAMPLE", "Z9X8C7V6", "MY-OWN-KEY"])(
    "may consist of upper-case letters: %s",
    (key) => {
      expect(backendOf(`api_key: ${key}`)?.key).toEqual({ from: "literal", value: key });
    },
  );

  it("may be stored under the second of two names for a host", () => {
    const lines = "base_url: https://api.moonshot.ai/v1";
    expect(
      backendOf(lines, { ...CONTEXT, storedKeys: ["KIMI_API_KEY", "OPENAI_API_KEY"] })?.key,
    ).toEqual({
      from: "stored",
      name: "KIMI_API_KEY",
    });
  });

  it("is never part of errors and warnings", () => {
    const result = parseTeam(
      yamlWith({ backend: "api_key: sk-CANARY-1234\nbase_url: http://10.0.0.1\nstrange: 1" }),
      CONTEXT,
    );
    expect(result.ok).toBe(false);
    expect(JSON.stringify(result)).not.toContain("CANARY");
  });

  it("is not inserted into other fields", () => {
    const team = teamOf(
      yamlWith({
        agent: "system_message: use ${OPENAI_API_KEY}",
        backend: "user: ${OPENAI_API_KEY}",
      }),
    );
    expect(team.agents[0]?.systemMessage).toBe("use ${OPENAI_API_KEY}");
    expect(team.agents[0]?.backend.params).toEqual({ user: "${OPENAI_API_KEY}" });
  });

  it("is mentioned in a warning if requests to an unknown endpoint have no key", () => {
    expect(
      parseTeam(yamlWith({ backend: "base_url: https://api.example.org/v1" }), CONTEXT).warnings,
    ).toMatchObject([{ code: "no_key", pointer: pointerTo("/base_url"), line: 6 }]);
  });

  it("is named in this warning if the operator has a key for the address, but not of the type's host", () => {
    const lines = "type: claude\nmodel: glm-5.3\nbase_url: https://api.z.ai/api/anthropic";
    expect(parseTeam(teamWith(lines), FULL_CONTEXT).warnings).toMatchObject([
      {
        code: "no_key",
        detail: expect.stringContaining("write api_key, such as ${ZAI_API_KEY}."),
      },
    ]);
  });
});

describe("a model's name", () => {
  const teamWithModel = (name: string) => teamWith(`type: gemini\nmodel: ${JSON.stringify(name)}`);

  it.each([
    "openai/gpt-oss-120b",
    "@cf/openai/gpt-oss-120b",
    "ft:gpt-5:org::id",
    "/models/a.gguf",
    "v1..2",
  ])("may be %s", (name) => {
    expect(teamOf(teamWithModel(name), FULL_CONTEXT).agents[0]?.backend.model).toBe(name);
  });

  it.each([
    "models/veo:predict#",
    "models/a?b=c",
    "models/%2e%2e/files",
    "a/../files",
    "..",
    "a\\b",
    "a\nb",
  ])("must not change the path of a request: %j", (name) => {
    expect(errorsOf(teamWithModel(name), FULL_CONTEXT)).toEqual([
      "5:14 out_of_range /agents/0/backend/model",
    ]);
  });
});

describe("parameters", () => {
  it("are kept unchanged, and nested mappings become plain objects", () => {
    const lines =
      "temperature: 0.2\ntop_p: 0.9\nseed: 7\nstop: [END]\nchat_template_kwargs: {enable_thinking: True}\nextra_body: {deep: {er: [1, {x: y}]}}";
    expect(backendOf(lines)?.params).toEqual({
      temperature: 0.2,
      top_p: 0.9,
      seed: 7,
      stop: ["END"],
      chat_template_kwargs: { enable_thinking: true },
      extra_body: { deep: { er: [1, { x: "y" }] } },
    });
  });

  it.each([
    ["max_tokens: 500", 500],
    ["max_completion_tokens: 600", 600],
    ["max_tokens: 9999999", 128_000],
    ["", 128_000],
  ])("do not include the output cap, which is at most the model's limit: %s", (line, cap) => {
    const team = teamOf(yamlWith({ backend: line }));
    expect(team.rules.agents[0]?.max_output_tokens).toBe(cap);
    expect(team.agents[0]?.backend.params).toEqual({});
  });

  it.each([
    ["temperature: hot", "6:20 wrong_type /agents/0/backend/temperature"],
    ["temperature: 3", "6:20 out_of_range /agents/0/backend/temperature"],
    ["max_tokens: 0", "6:19 out_of_range /agents/0/backend/max_tokens"],
    ["top_p: .nan", "6:14 out_of_range /agents/0/backend/top_p"],
    ["stop: 7", "6:13 wrong_type /agents/0/backend/stop"],
    ["stop: [x, 1]", "6:13 wrong_type /agents/0/backend/stop"],
    ["extra_body: [1]", "6:19 wrong_type /agents/0/backend/extra_body"],
    ["extra_body: {messages: []}", "6:20 not_allowed /agents/0/backend/extra_body/messages"],
    ["extra_body: {stream: false}", "6:20 not_allowed /agents/0/backend/extra_body/stream"],
    ["extra_body: {__proto__: {x: 1}}", "6:20 not_allowed /agents/0/backend/extra_body/__proto__"],
    ["reasoning: {effort: low}", "6:7 unknown_key /agents/0/backend/reasoning"],
    ["betas: [x]", "6:7 unknown_key /agents/0/backend/betas"],
  ])("are refused if a value is invalid: %s", (line, error) => {
    expect(errorsOf(yamlWith({ backend: line }))).toEqual([error]);
  });
});
