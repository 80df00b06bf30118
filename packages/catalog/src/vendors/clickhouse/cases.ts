import { tableCases } from '../shared/tables.ts';
import clickhouse from './vendor.ts';

export default tableCases(clickhouse);
