import { describe, expect, it } from "vitest";
import { problem, Service } from "../service";
import { runAt } from "./terminal";

const ANSWER = {
  ...{ name: "ITEMS_KEY", created_at: 1_795_000_000, updated_at: 1_795_000_000 },
  bindings: [{ origin: "https://api.example.com", paths: ["/v1"], methods: ["GET"] }],
};

describe("secrets set", () => {
  it("asks for the value at a terminal without echo, and sends it with its allowed origins", async () => {
    const answers = { "/api/secrets/ITEMS_KEY": { status: 201, body: ANSWER } };
    await using service = await Service.start({ events: [], answers });
    const bindingFlags = [
      "--origin",
      "https://api.example.com",
      "--path",
      "/v1",
      "--method",
      "get",
    ];
    const keys = [["Value of ITEMS_KEY", "the-s3cret\r"]] as const;
    const result = await runAt(
      { cwd: ".", keys },
      "secrets",
      "set",
      "ITEMS_KEY",
      ...bindingFlags,
      "--server",
      service.url,
    );
    expect(result.stdout).toMatch(/ITEMS_KEY.* GET https:\/\/api\.example\.com\/v1\b/);
    expect(result.screen).not.toContain("s3cret");
    const [request] = service.requests;
    expect(request?.method).toBe("PUT");
    expect(JSON.parse(request?.body ?? "")).toEqual({
      value: "the-s3cret",
      bindings: ANSWER.bindings,
    });
  });

  it.each([
    {
      name: "a value as an argument",
      args: ["ITEMS_KEY", "the-s3cret", "--origin", "https://a.net"],
    },
    { name: "a secret without an origin", args: ["ITEMS_KEY"] },
    {
      name: "a name that a config cannot use",
      args: ["items-key", "--origin", "https://a.net"],
    },
    {
      name: "an unknown method",
      args: ["ITEMS_KEY", "--origin", "https://a.net", "--method", "got"],
    },
  ])("refuses $name", async ({ args }) => {
    await using service = await Service.start({ events: [], answers: {} });
    await expect(
      runAt({ cwd: ".", keys: [] }, "secrets", "set", ...args, "--server", service.url),
    ).rejects.toThrow();
    expect(service.requests).toEqual([]);
  });
});

it("secrets delete without a terminal needs --yes", async () => {
  await using service = await Service.start({
    events: [],
    answers: { "/api/secrets/X": problem(404, { code: "secret_not_found" }) },
  });
  const run = runAt({ cwd: "." }, "secrets", "delete", "X", "--server", service.url);
  await expect(run).rejects.toMatchObject({
    exitCode: 1,
    message: expect.stringContaining("--yes"),
  });
  expect(service.requests).toEqual([]);
});
