import { run, makeWorkerUtils, runMigrations, Logger } from 'graphile-worker'
import { PgBoss } from 'pg-boss'
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk'

const url = process.env.BENCH_URL
const env = (k, v) => +(process.env[k] ?? v)
const quiet = new Logger(() => () => {})

export const peers = (ran) => ({ 'graphile-worker': graphile(ran), 'pg-boss': pgBoss(ran), 'dbos-ts': dbos(ran) })

// Settings of its own performance page: 24 jobs, pool of 25, local queue of 500, batched completion.
function graphile(ran) {
  const preset = { worker: {
    connectionString: url, logger: quiet, concurrentJobs: env('GW_JOBS', 24), maxPoolSize: 25,
    localQueue: { size: env('GW_LOCAL', 500) }, completeJobBatchDelay: env('GW_DELAY', 0), failJobBatchDelay: 0,
  } }
  return {
    unfinishedSql: 'select count(*) from graphile_worker._private_jobs',
    setup: () => runMigrations({ preset }),
    async enqueuer() {
      const u = await makeWorkerUtils({ connectionString: url, maxPoolSize: 16, logger: quiet })
      return {
        one: (stamp) => u.addJob('noop', { stamp }),
        many: (stamps) => u.addJobs(stamps.map((stamp) => ({ identifier: 'noop', payload: { stamp } }))),
        close: () => u.release(),
      }
    },
    async worker(mode) {
      const plain = { worker: { connectionString: url, logger: quiet } } // the defaults: one job at a time
      const r = await run({ preset: mode === 'default' ? plain : preset, taskList: { noop: async (p) => ran(p.stamp) }, noHandleSignals: true })
      return () => r.stop()
    },
  }
}

// Batches, continuous fetching while batches are full; LISTEN/NOTIFY where latency counts.
function pgBoss(ran) {
  const options = { connectionString: url, max: 16, supervise: false, schedule: false }
  const notify = process.argv[3] !== 'queue' && process.argv[4] !== 'default'
  const open = async (extra) => {
    const boss = new PgBoss({ ...options, ...extra })
    boss.on('error', (e) => console.error(e))
    await boss.start()
    return boss
  }
  return {
    unfinishedSql: `select count(*) from pgboss.job where state < 'completed'`,
    async setup() {
      const boss = await open()
      await boss.createQueue('noop', { notify })
      await boss.stop({ graceful: false })
    },
    async enqueuer() {
      const boss = await open()
      return {
        one: (stamp) => boss.send('noop', { stamp }),
        many: (stamps) => boss.insert('noop', stamps.map((stamp) => ({ data: { stamp } }))),
        close: () => boss.stop({ graceful: false }),
      }
    },
    async worker(mode) {
      const boss = await open({ supervise: true, schedule: true, useListenNotify: mode === 'low' })
      const work = mode === 'default' ? {}
        : { batchSize: env('PB_BATCH', mode === 'low' ? 50 : 1000), localConcurrency: env('PB_WORKERS', mode === 'low' ? 1 : 4), burstWhenBatchFull: true, pollingIntervalSeconds: 0.5 }
      await boss.work('noop', work, async (jobs) => { for (const j of jobs) ran(j.data.stamp) })
      return () => boss.stop({ graceful: false })
    },
  }
}

let flows
function register(ran) {
  flows ??= {
    noop: DBOS.registerWorkflow(async (stamp) => { ran(stamp) }, { name: 'noop' }),
    three: DBOS.registerWorkflow(async (i) => {
      const a = await DBOS.runStep(async () => i + 1, { name: 'one' })
      const b = await DBOS.runStep(async () => a + 1, { name: 'two' })
      const c = await DBOS.runStep(async () => b + 1, { name: 'three' })
      ran(0)
      return c
    }, { name: 'three' }),
  }
}

async function launch(queue) {
  DBOS.setConfig({ name: 'bench', systemDatabaseUrl: url, systemDatabasePoolSize: env('DBOS_POOL', 16), applicationVersion: '1', logLevel: 'error',
    listenQueues: queue ? undefined : ['none'] })
  await DBOS.launch()
  if (queue) await DBOS.registerQueue('q', { onConflict: 'always_update', ...queue })
}

function dbos(ran) {
  return {
    unfinishedSql: `select count(*) from dbos.workflow_status where status in ('ENQUEUED', 'PENDING')`,
    async setup() {
      register(ran)
      await launch({})
      await DBOS.shutdown()
    },
    async enqueuer() {
      const c = await DBOSClient.create({ systemDatabaseUrl: url, systemDatabasePoolSize: 16, applicationName: 'bench' })
      return { one: (stamp) => c.enqueue({ queueName: 'q', workflowName: 'noop' }, stamp), close: () => c.destroy() }
    },
    async worker(mode) {
      register(ran)
      await launch(mode === 'default' ? {} : mode === 'low' ? { minPollingIntervalMs: 100 }
        : { workerConcurrency: env('DBOS_WORKERS', 100), minPollingIntervalMs: env('DBOS_POLL', 10) })
      return () => DBOS.shutdown()
    },
  }
}

// W4: started directly in the process, and through a queue.
export async function dbosWorkflows({ connect, one, parallel, passes, phases, probe, rate, result, seconds, turn }) {
  let ended = 0
  await turn(phases.cold)
  register(() => { ended++ })
  await launch({ workerConcurrency: env('DBOS_WORKERS', 100), minPollingIntervalMs: env('DBOS_POLL', 10) })
  const direct = (n) => parallel(env('DBOS_INFLIGHT', 256), n, async (i) => (await DBOS.startWorkflow(flows.three)(i)).getResult())
  const c = await connect()
  const N = Math.min(2000, env('WORKFLOWS', 20000)), warm = env('WARM', 30)
  result('w4_cold_workflows_per_s', N / 2 / await direct(N / 2))
  await turn(phases.warmUp)
  for (const t = performance.now(); seconds(t) < warm;) await direct(N / 2)
  const measured = await passes(phases.measure, () => direct(N))
  rate('w4_direct_workflows_per_s', N, measured)
  result('w4_direct_steps_per_s', 3 * N / measured.median)
  await turn(phases.rest)
  const before = await probe(c)
  await direct(N)
  const after = await probe(c)
  result('w4_direct_statements_per_wf', (after.statements - before.statements) / N)
  result('w4_direct_wal_bytes_per_wf', (after.wal - before.wal) / N)
  result('w4_direct_client_cpu_us_per_wf', (after.client - before.client) * 1e6 / N)
  result('w4_direct_server_cpu_us_per_wf', (after.server - before.server) * 1e6 / N)
  const queued = async (n) => {
    ended = 0
    const t = performance.now()
    await parallel(16, n, (i) => DBOS.startWorkflow(flows.three, { queueName: 'q' })(i))
    while (ended < n || await one(c, `select count(*) from dbos.workflow_status where status in ('ENQUEUED', 'PENDING')`) > 0) await new Promise((r) => setTimeout(r, 10))
    return seconds(t)
  }
  await queued(N / 2)
  const s = await queued(N)
  result('w4_queued_workflows_per_s', N / s)
  result('w4_queued_steps_per_s', 3 * N / s)
}
