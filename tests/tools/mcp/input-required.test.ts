import { describe, expect, it } from "vitest";
import { inputRequired, inputResult } from "../../../src/tools/mcp/input-required";
import type { Question } from "../../../src/tools/mcp/schema";

const inputRequestOf = (questions: readonly Question[], clean = (text: string) => text) =>
  inputRequired("https://box.example.com/mcp", questions, clean);

describe("an input request of a server", () => {
  it("D18 is shown with the server's origin, but without a dangerous URL", () => {
    const required = inputRequestOf([
      { method: "elicitation/create", params: { message: "Your API key?\u202e" } },
      {
        method: "elicitation/create",
        params: { mode: "url", url: "javascript:alert(1)", message: "Open this" },
      },
      {
        method: "elicitation/create",
        params: { mode: "url", url: "https://pay.example.com/x", message: "Pay" },
      },
      { method: "sampling/createMessage" },
    ]);
    const resultText = inputResult(required);
    expect(resultText).toContain("The tool server at https://box.example.com");
    expect(resultText).toContain("fill in a form: Your API key?\\u{202e}");
    expect(resultText).toContain("open an address that is refused: Open this");
    expect(resultText).toContain("open https://pay.example.com/x: Pay");
    expect(resultText).not.toContain("javascript:");
    expect(required).toMatchObject({ origin: "https://box.example.com" });
    expect(required.requests.map(({ kind, url, refused }) => [kind, url, refused])).toEqual([
      ["form", null, null],
      ["url", null, "its scheme is javascript, and only https is shown"],
      ["url", "https://pay.example.com/x", null],
      ["other", null, null],
    ]);
  });

  it.each([
    {
      what: "a script",
      url: "javascript:alert(1)",
      reason: "its scheme is javascript, and only https is shown",
    },
    {
      what: "a script with hidden line breaks",
      url: "\tJava\nScript:alert(1)",
      reason: "its scheme is javascript, and only https is shown",
    },
    {
      what: "a data page",
      url: "data:text/html,<script>",
      reason: "its scheme is data, and only https is shown",
    },
    {
      what: "an unencrypted page",
      url: "http://pay.example.com/",
      reason: "its scheme is http, and only https is shown",
    },
    {
      what: "an unknown scheme",
      url: `${"x".repeat(40)}:y`,
      reason: /^its scheme is x{30}… \[10 characters left out\], and only https is shown$/,
    },
    {
      what: "a user name that looks like a host",
      url: "https://bank.example.com@evil.example.com/",
      reason: "it names a user before its host",
    },
    {
      what: "a URL with a password",
      url: "https://:secret@evil.example.com/",
      reason: "it names a user before its host",
    },
    { what: "a URL without a scheme", url: "//pay.example.com/", reason: "it is no address" },
    { what: "an empty URL", url: "", reason: "it is no address" },
    {
      what: "a URL that is too long",
      url: `https://pay.example.com/${"x".repeat(2_000)}`,
      reason: "it is longer than 2000 characters",
    },
  ])("D18 is shown with a reason in place of its URL: $what", ({ url, reason }) => {
    const { requests } = inputRequestOf([
      { method: "elicitation/create", params: { mode: "url", message: "Open it", url } },
    ]);
    const refused = typeof reason === "string" ? reason : expect.stringMatching(reason);
    expect(requests).toEqual([{ kind: "url", message: "Open it", url: null, refused }]);
  });

  it("D18 is shown with the ASCII form of a host name, and with direction marks escaped", () => {
    const url = "https://p\u0430y.example.com/\u202egnp.exe";
    const { requests } = inputRequestOf([{ method: "elicitation/create", params: { url } }]);
    expect(requests[0]?.url).toBe("https://xn--py-7kc.example.com/%E2%80%AEgnp.exe");
  });

  it("D18 is one of at most five, on one line, without parts of a secret", () => {
    const secret = "planted-0123456789";
    const message = `${"x".repeat(490)}${secret}\nmore`;
    const questions = Array.from({ length: 7 }, () => ({
      method: "elicitation/create",
      params: { message },
    }));
    const { requests, more } = inputRequestOf(questions, (text) =>
      text.replaceAll(secret, "[secret]"),
    );
    expect([requests.length, more]).toEqual([5, 2]);
    expect(requests[0]?.message).toBe(`${"x".repeat(490)}[secret] m… [3 characters left out]`);
  });
});
