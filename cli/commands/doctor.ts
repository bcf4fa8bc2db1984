import { Command } from "commander";
import { hasConsent } from "../asking/consent";
import { foundTeam } from "../asking/team-choice";
import {
  connect,
  type Connection,
  type ConnectionFlags,
  type Origins,
} from "../credentials/connection";
import { isExposed } from "../credentials/credentials";
import { CliError, EXIT, type ExitCode } from "../exit-codes";
import { commandLineOf, VERSION } from "../invocation";
import type { Io } from "../io";
import { credentialsFile, shownPath } from "../local-files";
import { judgeAccess, callService } from "../service/call-service";
import { listTeams, validateConfig } from "../service/listings";
import { DocumentSchema, HealthSchema, parseJson } from "../service/schema";
import { segment, type Tone, printLines } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { type Register, withConnection } from "./flags";

const MARKS: Record<Finding["state"], { mark: string; tone: Tone }> = {
  good: { mark: "ok", tone: "good" },
  note: { mark: "note", tone: "busy" },
  bad: { mark: "bad", tone: "bad" },
};

/** `doctor`: checks everything that a question needs, and prints one line per finding. */
export const registerDoctor: Register = (program, { io, end }) => {
  const command = withConnection(new Command("doctor"))
    .description("check Node, the config found here, the service, the clock and the key")
    .option("--json", "print the findings as one JSON")
    .action(async (flags: ConnectionFlags & { json?: true }) => {
      const findings = await examine(await connect(flags, io), io);
      if (flags.json) io.stdout.write(`${JSON.stringify({ findings })}\n`);
      else printLines(findings.map(lineOf), io);
      end(findings.find(({ state }) => state === "bad")?.exitCode ?? EXIT.ok);
    });
  program.addCommand(command);
};

const lineOf = ({ state, subject, text }: Finding) => [
  segment(MARKS[state].mark.padEnd(6), MARKS[state].tone),
  segment(subject.padEnd(10), "bold"),
  segment(toLine(text)),
];

export type Finding = {
  subject: string;
  state: "good" | "note" | "bad";
  text: string;
  exitCode: ExitCode;
};

const finding = (
  subject: string,
  state: Finding["state"],
  text: string,
  exitCode: ExitCode = EXIT.ok,
): Finding => ({
  subject,
  state,
  text,
  exitCode,
});

/**
 * Largest accepted clock difference between this machine and the service. With a larger one,
 * tickets and keys look expired or not yet valid.
 */
const MAX_SKEW_MS = 30_000;

type ServiceAccess = Connection & { origins: Origins };
type Place = Pick<Io, "cwd" | "home">;

/** Runs all checks. If the service does not respond, the checks that need it are omitted. */
export async function examine(connection: ServiceAccess, io: Place): Promise<Finding[]> {
  const service = await examineService(connection);
  const reachable = service.every(({ state }) => state !== "bad");
  return [
    finding("program", "good", `massgen-edge ${VERSION}, Node ${process.versions.node}`),
    ...service,
    ...(reachable ? [await runCheck("key", () => examineKey(connection))] : []),
    ...(await examineCredentialsFile(io)),
    await runCheck("config", () => examineConfig(reachable ? connection : null, io)),
  ];
}

/** Runs a check. A CliError of the check becomes a bad finding. */
async function runCheck(subject: string, check: () => Promise<Finding>): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof CliError) return finding(subject, "bad", error.message, error.exitCode);
    throw error;
  }
}

async function examineService(connection: ServiceAccess): Promise<Finding[]> {
  const address = `${connection.server} (${connection.origins.server})`;
  try {
    const startedAt = Date.now();
    const { status, headers, bytes } = await receive("/healthz", connection);
    const health = HealthSchema.safeParse(parseJson(new TextDecoder().decode(bytes)));
    if (status !== 200 || !health.success) {
      return [
        finding(
          "service",
          "bad",
          `${address} is not this service. Check the address.`,
          EXIT.unreachable,
        ),
      ];
    }
    const version = health.data.version ?? (await versionInDocument(connection));
    return [
      finding(
        "service",
        "good",
        `${address} answers in ${Date.now() - startedAt} ms${version ? `, version ${version}` : ""}`,
      ),
      ...examineClock(headers.get("date"), (startedAt + Date.now()) / 2),
    ];
  } catch (error) {
    if (error instanceof CliError)
      return [finding("service", "bad", error.message, error.exitCode)];
    throw error;
  }
}

/** The version in the OpenAPI document, for a service whose `/healthz` has no version. */
async function versionInDocument(connection: Connection): Promise<string | null> {
  const { bytes } = await receive("/openapi.json", connection);
  const document = parseJson(new TextDecoder().decode(bytes));
  return DocumentSchema.safeParse(document).data?.info.version ?? null;
}

const receive = (path: string, connection: Connection) =>
  callService(connection, (client) => client.receive({ method: "GET", path }));

/**
 * Compares the clocks. `date` is the service's `Date` header, `now` is this machine's time at the
 * same moment. Returns no finding without a date, because a service on this machine sends none.
 */
export function examineClock(date: string | null, now: number): Finding[] {
  const serviceTime = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(serviceTime)) return [];
  const skewMs = Math.round(now - serviceTime);
  if (Math.abs(skewMs) <= MAX_SKEW_MS)
    return [finding("clock", "good", "agrees with the service's")];
  const difference = `${Math.round(Math.abs(skewMs) / 1000)} s ${skewMs > 0 ? "ahead of" : "behind"}`;
  return [
    finding(
      "clock",
      "bad",
      `this machine's clock is ${difference} the service's. Set it`,
      EXIT.config,
    ),
  ];
}

async function examineKey(connection: ServiceAccess): Promise<Finding> {
  const { origins, key } = connection;
  const access = await judgeAccess(connection);
  const keySource = key === undefined ? "" : ` (${origins.key})`;
  switch (access.kind) {
    case "good":
      return finding("key", "good", `accepted by the service${keySource}`);
    case "open":
      return finding("key", "good", `the service needs no key${keySource}`);
    case "limited":
      return finding(
        "key",
        "note",
        `valid${keySource}, but without the scope read: attach and show will not work`,
      );
    case "refused":
      return finding(
        "key",
        "bad",
        key === undefined
          ? `no key is set. To store a key: ${commandLineOf("login")}`
          : `the service refuses it${keySource}`,
        EXIT.refused,
      );
  }
}

async function examineCredentialsFile(io: Place): Promise<Finding[]> {
  if (!(await isExposed(io))) return [];
  const shown = shownPath(credentialsFile(io), io);
  return [
    finding(
      "file",
      "bad",
      `others on this machine can read ${shown}: chmod 600 ${shown}`,
      EXIT.config,
    ),
  ];
}

async function examineConfig(connection: Connection | null, io: Place): Promise<Finding> {
  const found = await foundTeam(io);
  if (found === null) return examineDefaultTeam(connection);
  const { team, text } = found;
  if (connection === null)
    return finding("config", "note", `${team.description}, not checked: service unreachable`);
  const { data } = await validateConfig(text, connection);
  if (data.runnable && found.needsConsent && !(await hasConsent(found, io)))
    return finding(
      "config",
      "note",
      `${team.description} can run; you are asked whether to use it at the first question here`,
    );
  if (data.runnable) return finding("config", "good", `${team.description} can run`);
  const missing = [...data.errors, ...data.refusals];
  if (lacksOnlyKeys(missing)) {
    return finding(
      "config",
      "note",
      `${team.description} is valid, but cannot run yet. ${missing[0]?.detail ?? ""}`,
    );
  }
  const advice = commandLineOf("config", "validate");
  return finding("config", "bad", `${team.description} cannot run; see ${advice}`, EXIT.config);
}

/**
 * Whether only provider keys are missing. The operator of the service sets these keys. Without
 * them, the service is healthy but cannot run the team.
 */
const lacksOnlyKeys = (missing: readonly { code?: string | undefined }[]): boolean =>
  missing.length > 0 && missing.every(({ code }) => code === "key_not_set");

/** Examines the default team, which answers if there is no config. */
async function examineDefaultTeam(connection: Connection | null): Promise<Finding> {
  const teams = connection ? (await listTeams(connection)).data.data : [];
  const defaultTeam = teams.find((team) => team.default);
  if (!defaultTeam) return finding("config", "good", "no config here: the default team is asked");
  if (defaultTeam.runnable)
    return finding(
      "config",
      "good",
      `no config here: the default team is asked, ${defaultTeam.name}`,
    );
  const reason = defaultTeam.missing[0]?.detail ?? "it is not ready";
  if (!lacksOnlyKeys(defaultTeam.missing))
    return finding(
      "config",
      "bad",
      `no config here, and the default team, ${defaultTeam.name}, cannot run: ${reason}`,
      EXIT.config,
    );
  const ready = teams.filter(({ runnable }) => runnable).map(({ name }) => name);
  const others =
    ready.length > 0
      ? `Ready now: ${ready.map((name) => `--config ${name}`).join(", ")}.`
      : "The service is healthy, and can answer once a provider's key is set.";
  return finding(
    "config",
    "note",
    `no config here; the default team, ${defaultTeam.name}, cannot run yet. ${reason} ${others}`,
  );
}
