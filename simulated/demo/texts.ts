/**
 * Texts of the demo. Their figures are correct: 400 requests per second × 25 ms are a load of 10
 * busy connections. By Erlang's C formula, the share of requests that wait is 0.057 with 16
 * connections, 0.0037 with 20 and 0.00005 with 25.
 */

export const QUESTION = `Our API serves 1,200 requests per second, spread evenly over 3 instances. Each request holds a Postgres connection for 25 ms on average. Postgres allows 100 connections, and a rolling deploy runs a fourth instance for a while. How many connections should each instance's pool have, so that requests almost never wait for one?`;

/** Sprinter's first answer. The arithmetic is correct, but the pool would always be full. */
export const ROUGH = `10 connections per instance.

By Little's law, 1,200 requests per second × 0.025 s = 30 connections are busy on average. Spread over 3 instances, that is 10 for each. A pool of 10 matches the load exactly, and 70 of the 100 connections stay free for everything else.`;

/** Judge's answer. It considers only the limit during a deployment. */
export const LARGEST = `25 connections per instance.

During a rolling deploy 4 instances run at once, and Postgres allows 100 connections: 100 / 4 = 25. A larger pool never makes a request wait longer, so take the largest one that still fits while deploying. The load of 1,200 requests per second at 25 ms each needs far less than that, so no request should ever queue for a connection.`;

/** Thinker's answer. It is sound, but uses a rule of thumb for "almost never". */
export const THOROUGH = `16 connections per instance.

One instance gets 400 requests per second and each holds a connection for 25 ms, so 400 × 0.025 = 10 are busy on average. A pool of exactly 10 would run at 100 % and its queue would only ever grow, because requests do not arrive evenly: the number in use varies by about √10 ≈ 3. Two such steps above the average give 10 + 2 × 3 = 16.

A deploy then opens 4 × 16 = 64 connections, well within the limit. Do not plan with all 100: Postgres keeps 3 for superusers, and migrations, scheduled jobs and a person with psql need some too.`;

/**
 * Sprinter's second answer, after it has seen the thinker's. It has a number for "almost never".
 */
export const IMPROVED = `20 connections per instance.

The load is 10 busy connections per instance (400 requests/s × 25 ms). How many more are needed follows from "almost never wait". With random arrivals, Erlang's C formula says how many requests find every connection taken:

  pool of 10: the queue grows without end
  pool of 16: 6 in 100 wait
  pool of 20: 4 in 1,000 wait
  pool of 25: 5 in 100,000 wait

Normal operation opens 3 × 20 = 60 connections, a rolling deploy 4 × 20 = 80. Of the 97 that Postgres leaves to ordinary users, 17 remain for migrations, jobs and people. Pools of 25 would want all 100 during a deploy, and the last connections would be refused.`;

/** The final answer of the team. */
export const PRESENTATION = `Give each instance a pool of 20 connections.

How many are busy: an instance serves 400 requests per second, and each holds a connection for 25 ms, so 400 × 0.025 s = 10 are in use on average.

How many are enough: requests arrive at random, so the pool needs room above the average. Erlang's C formula gives the share of requests that must wait:

  10 connections   the queue grows without end
  16 connections   6 in 100 wait
  20 connections   4 in 1,000 wait
  25 connections   5 in 100,000 wait

How many fit: 3 × 20 = 60 in normal operation, 4 × 20 = 80 during a rolling deploy. Postgres keeps 3 of its 100 for superusers, which leaves 17 for migrations, jobs and people. With 25 each, a deploy would want all 100 and the last connections would be refused.

What to watch: the time requests wait for a connection. The figures move with the query time: at 50 ms instead of 25, the load doubles to 20 and this pool is too small.`;

/** The web search of the presenter, sent only if the request offers that tool. */
export const SEARCH = {
  name: "web_search",
  input: "PostgreSQL superuser_reserved_connections default",
  output: "superuser_reserved_connections (integer): … The default value is three connections.",
} as const;
/** The source that the presentation cites. */
export const SOURCE = {
  url: "https://www.postgresql.org/docs/current/runtime-config-connection.html",
  title: "PostgreSQL Documentation: Connections and Authentication",
  text: "Postgres keeps 3 of its 100 for superusers",
} as const;

/** The judge's text before its vote. It is long, so newer answers arrive while it is streamed. */
export const WEIGHING = `Let me compare the two proposals before I decide.

The first one computes the average load: 1,200 requests per second at 25 ms each keep 30 connections busy, which is 10 per instance. The arithmetic is right. But a pool as large as the average load is busy all the time. As soon as a few requests arrive close together they have to queue, and the queue has no spare capacity that could ever empty it again. The question asks that requests almost never wait, so 10 cannot be the answer.

The second one starts from the other end. It asks how many connections there are during a rolling deploy and divides them by four. That gives 25 per instance, two and a half times the average load, which is plenty of room for bursts. It says little about how the size relates to the load, and it uses up the whole limit. Still, of these two it is the one under which requests would not wait.

I vote for the second proposal.`;

/** Reasons of the votes, named by the answer voted for and the situation of the voter. */
export const REASONS = {
  largestOverRough:
    "A pool of 10 is full all the time; this one leaves room for bursts and thinks of the deploy.",
  largestAfterWeighing: "Of the two, this is the one under which requests would not wait.",
  thorough: "It alone looks at how much the load varies, and it leaves connections for others.",
  improvedByItself: "It puts a figure on 'almost never' and still fits during a deploy.",
  improvedByRival:
    "It replaces the rule of thumb by the real probability: with 16, 6 requests in 100 would still wait.",
  improvedAfterStale:
    "With this answer in view, 25 is out: a deploy would want all 100. 20 waits almost never, and fits.",
} as const;
