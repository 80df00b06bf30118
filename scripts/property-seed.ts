/**
 * Loaded before every unit test file. Property tests draw the same values on every run, so that a run is decided by the
 * code and not by luck; `PROPERTY_SEED=<number>` draws others, `PROPERTY_SEED=random` new ones each time.
 */
import fc from 'fast-check';

const wanted = process.env.PROPERTY_SEED ?? '20260501';
if (wanted !== 'random') fc.configureGlobal({ seed: Number(wanted) });
