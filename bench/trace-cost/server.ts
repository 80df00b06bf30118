/** The whole service as a child process, with or without the recorder that turns outcomes into traces and statistics. */
import { readSettings } from '../../packages/server/src/config.ts';
import { startServer } from '../../packages/server/src/main.ts';

const read = readSettings(process.env);
if (!read.ok) throw new Error(read.faults.join('\n'));
const running = await startServer(read.settings, { record: process.argv[2] === 'traced' });
await running.begun;
process.on('disconnect', () => void running.stop().then(() => process.exit(0)));
process.send!('ready');
