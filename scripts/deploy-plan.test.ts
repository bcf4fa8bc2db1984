import { describe, expect, it } from "vitest";
import { deployPlan } from "./deploy-plan";

const MIGRATE = ["d1", "migrations", "apply", "DB", "--remote"];

describe("npm run deploy", () => {
  it.each([
    { name: "uploads, then runs the migrations", args: [], plan: [["deploy"], MIGRATE] },
    { name: "does nothing in a dry run", args: ["--dry-run"], plan: [] },
    {
      name: "does nothing in a dry run to another environment",
      args: ["--env", "test", "--dry-run"],
      plan: [],
    },
    { name: "does nothing in a dry run written with =", args: ["--dry-run=true"], plan: [] },
    { name: "does nothing in a dry run in camel case", args: ["--dryRun"], plan: [] },
    {
      name: "uploads if --dry-run is false",
      args: ["--dry-run=false"],
      plan: [["deploy", "--dry-run=false"], MIGRATE],
    },
    {
      name: "uses the same environment for both commands",
      args: ["--env", "test"],
      plan: [
        ["deploy", "--env", "test"],
        [...MIGRATE, "--env", "test"],
      ],
    },
    {
      name: "uses the same config file for both commands, and passes other options only to the upload",
      args: ["-c=other.toml", "--keep-vars", "--message", "new"],
      plan: [
        ["deploy", "-c=other.toml", "--keep-vars", "--message", "new"],
        [...MIGRATE, "-c=other.toml"],
      ],
    },
    {
      name: "runs no migration with --help",
      args: ["--help"],
      plan: [["deploy", "--help"]],
    },
  ])("$name", ({ args, plan }) => {
    expect(deployPlan(args)).toEqual(plan);
  });

  it.each([["--name", "other"], ["--name=other"]])(
    "refuses another name of the Worker, because it has no database: %s",
    (...args) => {
      expect(() => deployPlan(args)).toThrow("wrangler.toml");
    },
  );
});
