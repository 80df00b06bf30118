import { tableCases } from '../shared/tables.ts';
import mysql from './vendor.ts';

export default tableCases(mysql);
