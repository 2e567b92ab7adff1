// node main.js PEER (queue | latency MODE | workflow | feed): the same phases as the class Measure in Java.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { peers, dbosWorkflows } from './peers.js'

const N = +(process.env.JOBS ?? 20000)
const RATE = 200, SECONDS = +(process.env.SECONDS ?? 20), WARM = +(process.env.WARM ?? 30)
const LATENCY_WARM = 2 * WARM // at some hundred runs a second compilers take longer
const [name, workload, mode] = process.argv.slice(2)

// What every no-op job does.
let count = 0, first = 0, waits = null
export function ran(stamp) {
  if (count++ === 0) first = performance.now()
  if (waits && stamp) waits.push(micros() - stamp)
}
const micros = () => Math.round((performance.timeOrigin + performance.now()) * 1000)

// As the class Turn in Java: who is measured beside others works only while it has the turn.
const IN_TURNS = process.env.TURNS === 'true'
const grants = IN_TURNS ? createInterface({ input: process.stdin })[Symbol.asyncIterator]() : null
export const phases = { cold: 0, singleWarmUp: 1, single: 2, manyCallers: 3, warmUp: 4, measure: 5, rest: 6 }
export async function turn(phase) {
  if (!IN_TURNS) return
  console.log(`TURN ${phase}`)
  if ((await grants.next()).done) throw new Error('the harness has gone')
}

const result = (metric, value) => Number.isFinite(value) && console.log(`RESULT ${metric} ${value.toFixed(3)}`)
const seconds = (since) => (performance.now() - since) / 1000

async function connect() {
  const c = new pg.Client({ connectionString: process.env.BENCH_URL })
  await c.connect()
  return c
}
const one = async (c, sql) => Number(Object.values((await c.query(sql)).rows[0])[0])
const statements = (c) => one(c, `select coalesce(sum(calls),0)::bigint from pg_stat_statements s join pg_database d on d.oid = s.dbid
  where d.datname = current_database() and query not like '%pg_stat_%' and query not like '%pg_current_wal%'`)

function serverCpuSeconds() {
  let ticks = 0
  for (const d of readdirSync('/proc').filter((x) => /^\d+$/.test(x))) {
    try {
      const stat = readFileSync(`/proc/${d}/stat`, 'utf8')
      const f = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const self = d === process.env.BENCH_POSTMASTER
      if (self || f[1] === process.env.BENCH_POSTMASTER) ticks += +f[11] + +f[12]
      if (self) ticks += +f[13] + +f[14]
    } catch { /* the process ended meanwhile */ }
  }
  return ticks / 100
}

async function probe(c) {
  const cpu = process.cpuUsage()
  return {
    commits: await one(c, 'select xact_commit + xact_rollback from pg_stat_database where datname = current_database()'),
    statements: await statements(c),
    wal: await one(c, `select (pg_current_wal_lsn() - '0/0')::bigint`),
    client: (cpu.user + cpu.system) / 1e6,
    server: serverCpuSeconds(),
  }
}

// 16 "threads": 16 calls in flight
export async function parallel(lanes, n, task) {
  let next = 0
  const t = performance.now()
  await Promise.all(Array.from({ length: lanes }, async () => { for (let i; (i = next++) < n;) await task(i) }))
  return seconds(t)
}

async function awaitCount(n, limit) {
  const t = performance.now()
  while (count < n) {
    if (seconds(t) > limit) throw new Error(`only ${count} of ${n} jobs ran`)
    await sleep(2)
  }
}

async function drain(p, n) {
  count = 0
  const c = await connect()
  const t = performance.now()
  const stop = await p.worker('drain')
  await awaitCount(n, 300)
  while (await one(c, p.unfinishedSql) > 0) await sleep(5)
  const s = seconds(t)
  await stop()
  await c.end()
  if (count !== n) console.error(`note: ${count} runs of ${n} jobs`)
  return { s, firstMs: first - t }
}

// The time of the processors that this machine has wanted, and what other tenants of its hardware got of that.
function processorTime() {
  if (!existsSync('/proc/stat')) return { wanted: 0, stolen: 0 }
  const [user, nice, system, , , irq, softirq, stolen] =
    readFileSync('/proc/stat', 'utf8').split('\n')[0].split(/\s+/).slice(1, 9).map(Number)
  return { wanted: user + nice + system + irq + softirq + stolen, stolen }
}
async function taken(pass) {
  const before = processorTime()
  const s = await pass()
  const after = processorTime()
  return { s, stolen: after.wanted === before.wanted ? 0 : (after.stolen - before.stolen) / (after.wanted - before.wanted) }
}

// As the class Passes in Java: up to five, as many as begin within ten seconds; those that were disturbed are repeated, up to ten and a minute.
export async function passes(phase, pass) {
  const all = []
  await repeat(phase, async () => all.push(await taken(pass)), all)
  return { ...leastDisturbed(all), count: all.length }
}
async function repeat(phase, work, ...each) {
  let worked = 0
  const wantMore = (all) => {
    const disturbed = all.filter((one) => one.stolen > 0.03).length
    return all.length - disturbed < 5 && all.length < 10 && worked < (disturbed ? 60 : 10)
  }
  do {
    await turn(phase)
    const t = performance.now()
    await work()
    worked += seconds(t)
  } while (each.some(wantMore))
}
// Of the five that lost least: the median of their seconds, and what they lost on average.
function leastDisturbed(all) {
  const counted = [...all].sort((a, b) => a.stolen - b.stolen).slice(0, 5)
  return { median: median(counted.map((one) => one.s)), stolen: counted.reduce((sum, one) => sum + one.stolen, 0) / counted.length }
}
function rate(metric, n, { median, stolen }) {
  result(metric, n / median)
  result(`${metric}_stolen_percent`, 100 * stolen)
}
function median(all) {
  const sorted = [...all].sort((a, b) => a - b)
  return (sorted[Math.floor((all.length - 1) / 2)] + sorted[Math.floor(all.length / 2)]) / 2
}

// Singly if the peer has no batches; then the time means nothing.
async function enqueueBatch(p) {
  const e = await p.enqueuer()
  const t = performance.now()
  if (e.many) for (let i = 0; i < N; i += 1000) await e.many(Array(Math.min(1000, N - i)).fill(0))
  else await parallel(16, N, () => e.one(0))
  const s = seconds(t)
  await e.close()
  return e.many ? s : NaN
}

// Singly, for so many seconds; how many there were.
async function enqueueFor(most, e) {
  let n = 0
  for (const t = performance.now(); seconds(t) < most; n += N / 4) await parallel(16, N / 4, () => e.one(0))
  return n
}

async function queue(p) {
  await turn(phases.cold)
  await p.setup()
  let e = await p.enqueuer()
  result('w1_cold_single_per_s', N / 4 / await parallel(16, N / 4, () => e.one(0)))
  const waiting = N / 4 + await enqueueFor(WARM / 10, e)
  await e.close()
  result('w2_cold_drain_per_s', waiting / (await drain(p, waiting)).s)
  e = await p.enqueuer()
  await turn(phases.singleWarmUp)
  const warm = await enqueueFor(WARM / 3, e)
  const single = await passes(phases.single, () => parallel(16, N, () => e.one(0)))
  rate('w1_single_per_s', N, single)
  const callers = await passes(phases.manyCallers, () => parallel(256, N, () => e.one(0)))
  rate('w1_256_callers_per_s', N, callers)
  await e.close()
  await turn(phases.warmUp)
  await drain(p, warm + N * (single.count + callers.count))
  for (let drained = 0; drained < WARM;) {
    await enqueueBatch(p)
    drained += (await drain(p, N)).s
  }
  const batches = [], drains = []
  await repeat(phases.measure, async () => {
    batches.push(await taken(() => enqueueBatch(p)))
    drains.push(await taken(async () => (await drain(p, N)).s))
  }, batches, drains)
  rate('w1_batch_per_s', N, leastDisturbed(batches))
  rate('w2_drain_per_s', N, leastDisturbed(drains))
  await turn(phases.rest)
  await enqueueBatch(p)
  const c = await connect()
  await sleep(500)
  const before = await probe(c)
  const { s, firstMs } = await drain(p, N)
  await sleep(500)
  const after = await probe(c)
  result('w2_first_ms', firstMs)
  result('w2_after_first_per_s', N / (s - firstMs / 1000))
  result('w5_xacts_per_job', (after.commits - before.commits) / N)
  result('w5_statements_per_job', (after.statements - before.statements) / N)
  result('w5_wal_bytes_per_job', (after.wal - before.wal) / N)
  result('w5_client_cpu_us_per_job', (after.client - before.client) * 1e6 / N)
  result('w5_server_cpu_us_per_job', (after.server - before.server) * 1e6 / N)
}

async function latency(p) {
  await p.setup()
  const n = RATE * (LATENCY_WARM + SECONDS)
  waits = []
  const stop = await p.worker(mode)
  await sleep(2000)
  const feeder = spawn(process.execPath, [process.argv[1], name, 'feed'], { stdio: 'inherit' })
  const fed = new Promise((done) => feeder.on('exit', done))
  await awaitCount(n, 180 + LATENCY_WARM + SECONDS)
  await fed
  percentiles(`w3_${mode}_cold_`, 0)
  percentiles(`w3_${mode}_`, RATE * LATENCY_WARM)
  await sleep(3000)
  const c = await connect()
  const before = await statements(c), cpu = serverCpuSeconds()
  await sleep(SECONDS * 1000)
  result(`w6_${mode}_statements_per_s`, (await statements(c) - before) / SECONDS)
  result(`w6_${mode}_server_cpu_ms_per_s`, (serverCpuSeconds() - cpu) * 1000 / SECONDS)
  await stop()
}

function percentiles(prefix, from) {
  const w = waits.slice(from, from + RATE * SECONDS).sort((a, b) => a - b)
  for (const q of [50, 95, 99]) result(`${prefix}p${q}_ms`, w[Math.floor(w.length * q / 100)] / 1000)
}

async function feed(p) {
  const e = await p.enqueuer()
  const t = performance.now(), all = []
  for (let i = 0; i < RATE * (LATENCY_WARM + SECONDS); i++) {
    const left = t + i * (1000 / RATE) - performance.now()
    if (left > 0) await sleep(left)
    all.push(e.one(micros()))
  }
  await Promise.all(all)
  await e.close()
}

const p = peers(ran)[name]
if (workload === 'queue') await queue(p)
else if (workload === 'latency') await latency(p)
else if (workload === 'feed') await feed(p)
else if (workload === 'workflow') await dbosWorkflows({ connect, one, parallel, passes, phases, probe, rate, result, seconds, turn })
else throw new Error(workload)
process.exit(0)
