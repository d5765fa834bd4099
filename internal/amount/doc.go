// Package amount reads times and sizes as settings and options write them: 10s, 5min, 512m. Every setting and option that takes one reads
// it here; intervals of SQL, 10 minutes, are package interval's.
//
// It knows no names of settings and makes no errors: the caller knows what was asked for. Table tests.
package amount
