/** The floor: `pg` writes the same rows with the same statement on two connections, and nothing else is counted. */
import pg from 'pg';
import { orderAt } from './order-event.ts';

const COLUMNS = {
  event_id: 'text',
  type: 'text',
  event: 'text',
  user_id: 'text',
  anonymous_id: 'text',
  timestamp: 'timestamptz',
  context: 'jsonb',
  properties: 'jsonb',
} as const;
const NAMES = Object.keys(COLUMNS) as (keyof typeof COLUMNS)[];

/** Returns the seconds. */
export async function writeDirectly(url: string, events: number, atOnce: number): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  await pool.query(
    `create table floor (${NAMES.map((name) => `"${name}" ${COLUMNS[name]}${name === 'event_id' ? ' primary key' : ''}`).join(', ')})`,
  );
  const sql = `insert into floor (${NAMES.map((name) => `"${name}"`).join(', ')})
    select * from unnest(${NAMES.map((name, i) => `$${i + 1}::${COLUMNS[name]}[]`).join(', ')}) on conflict (event_id) do update set event = excluded.event`;
  let ms = 0;
  for (let from = 0; from < events; from += 2 * atOnce) {
    const batches = [from, from + atOnce]
      .filter((start) => start < events)
      .map((start) => {
        const some = Array.from({ length: Math.min(atOnce, events - start) }, (_, i) => orderAt(start + i));
        return NAMES.map((name) => some.map((event) => (typeof event[name] === 'object' ? JSON.stringify(event[name]) : event[name])));
      });
    const began = performance.now();
    await Promise.all(batches.map((columns) => pool.query(sql, columns)));
    ms += performance.now() - began;
  }
  await pool.query('drop table floor');
  await pool.end();
  return ms / 1_000;
}
