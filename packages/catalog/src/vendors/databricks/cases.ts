import { tableCases } from '../shared/tables.ts';
import databricks from './vendor.ts';

export default tableCases(databricks);
