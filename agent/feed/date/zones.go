package date

// zones are the zones that we know by name, in minutes east of UTC.
//
// Read are UTC by its names, what RFC 822 names, and names that only one zone
// of many readers has. CST, EST, MST and PST are American by RFC 822, though
// China, Australia, Malaysia and the Philippines have used them; CST is refused
// in Chinese. BST is British in summer and refused in winter, when it can only
// be another (Bangladesh, Bougainville). The two letters of American networks change with the summer.
//
// Refused, unless an offset stands beside them, are names that feeds use for
// more than one zone: IST (India, Ireland, Israel), AST (Atlantic, Arabia),
// AMT and AMST (Amazon, Armenia), GST (Gulf, South Georgia), SST (Samoa,
// Singapore), ECT (Ecuador, Caribbean), WST (Western Australia, Samoa), CLT,
// VET and others of countries that changed their clocks often.
var zones = map[string]zone{
	"UTC": utc, "GMT": utc, "UT": utc, "WET": utc, "UCT": utc, "Z": {0, letter},

	"EST": {-5 * 60, always}, "EDT": {-4 * 60, always}, "ET": {-5 * 60, ofUSClocks},
	"CST": {-6 * 60, always}, "CDT": {-5 * 60, always}, "CT": {-6 * 60, ofUSClocks},
	"MST": {-7 * 60, always}, "MDT": {-6 * 60, always}, "MT": {-7 * 60, ofUSClocks},
	"PST": {-8 * 60, always}, "PDT": {-7 * 60, always}, "PT": {-8 * 60, ofUSClocks},
	"AKST": {-9 * 60, always}, "AKDT": {-8 * 60, always}, "HST": {-10 * 60, always},
	"ADT": {-3 * 60, always}, "NDT": {-150, always}, "BRT": {-3 * 60, always}, "ART": {-3 * 60, always},

	"WEST": {60, always}, "BST": {60, summerOnly},
	"CET": {60, always}, "MET": {60, always}, "MEZ": {60, always}, "WAT": {60, always},
	"CEST": {2 * 60, always}, "MEST": {2 * 60, always}, "MESZ": {2 * 60, always},
	"EET": {2 * 60, always}, "EEST": {3 * 60, always}, "CAT": {2 * 60, always}, "SAST": {2 * 60, always},
	"EAT": {3 * 60, always}, "TRT": {3 * 60, always}, "IDT": {3 * 60, always},
	"MSK": {3 * 60, ofMoscow}, "MSD": {4 * 60, always}, "МСК": {3 * 60, ofMoscow},

	"PKT": {5 * 60, always}, "NPT": {5*60 + 45, always}, "WIB": {7 * 60, always}, "ICT": {7 * 60, always},
	"HKT": {8 * 60, always}, "SGT": {8 * 60, always}, "PHT": {8 * 60, always}, "AWST": {8 * 60, always},
	"JST": {9 * 60, always}, "KST": {9 * 60, always}, "ACST": {9*60 + 30, always}, "ACDT": {10*60 + 30, always},
	"AEST": {10 * 60, always}, "AEDT": {11 * 60, always}, "NZST": {12 * 60, always}, "NZDT": {13 * 60, always},
}

// areas are places of the zone database, for programs that write the name of
// their setting. Their rules hold since [areasSince]; places that have changed
// them after it are left out.
//
// Source: the IANA time zone database.
var areas = map[string]zone{
	"Etc/UTC": utc, "Etc/GMT": utc, "Etc/UCT": utc, "Africa/Abidjan": utc, "Africa/Accra": utc, "Atlantic/Reykjavik": utc,

	"Europe/London": {0, ofEUClocks}, "Europe/Dublin": {0, ofEUClocks}, "Europe/Lisbon": {0, ofEUClocks},
	"Europe/Amsterdam": {60, ofEUClocks}, "Europe/Belgrade": {60, ofEUClocks}, "Europe/Berlin": {60, ofEUClocks},
	"Europe/Brussels": {60, ofEUClocks}, "Europe/Budapest": {60, ofEUClocks}, "Europe/Copenhagen": {60, ofEUClocks},
	"Europe/Luxembourg": {60, ofEUClocks}, "Europe/Madrid": {60, ofEUClocks}, "Europe/Oslo": {60, ofEUClocks},
	"Europe/Paris": {60, ofEUClocks}, "Europe/Prague": {60, ofEUClocks}, "Europe/Rome": {60, ofEUClocks},
	"Europe/Stockholm": {60, ofEUClocks}, "Europe/Vienna": {60, ofEUClocks}, "Europe/Warsaw": {60, ofEUClocks},
	"Europe/Zurich": {60, ofEUClocks}, "Europe/Zagreb": {60, ofEUClocks},
	"Europe/Athens": {2 * 60, ofEUClocks}, "Europe/Bucharest": {2 * 60, ofEUClocks}, "Europe/Helsinki": {2 * 60, ofEUClocks},
	"Europe/Kiev": {2 * 60, ofEUClocks}, "Europe/Kyiv": {2 * 60, ofEUClocks}, "Europe/Riga": {2 * 60, ofEUClocks},
	"Europe/Sofia": {2 * 60, ofEUClocks}, "Europe/Tallinn": {2 * 60, ofEUClocks}, "Europe/Vilnius": {2 * 60, ofEUClocks},
	"Europe/Minsk": {3 * 60, always}, "Europe/Moscow": {3 * 60, ofMoscow},

	"America/New_York": {-5 * 60, ofUSClocks}, "America/Toronto": {-5 * 60, ofUSClocks}, "America/Detroit": {-5 * 60, ofUSClocks},
	"America/Chicago": {-6 * 60, ofUSClocks}, "America/Denver": {-7 * 60, ofUSClocks}, "America/Phoenix": {-7 * 60, always},
	"America/Los_Angeles": {-8 * 60, ofUSClocks}, "America/Vancouver": {-8 * 60, ofUSClocks},
	"America/Bogota": {-5 * 60, always}, "America/Lima": {-5 * 60, always}, "Pacific/Honolulu": {-10 * 60, always},
	"US/Eastern": {-5 * 60, ofUSClocks}, "US/Central": {-6 * 60, ofUSClocks}, "US/Mountain": {-7 * 60, ofUSClocks}, "US/Pacific": {-8 * 60, ofUSClocks},

	"Africa/Johannesburg": {2 * 60, always}, "Africa/Lagos": {60, always}, "Africa/Nairobi": {3 * 60, always},
	"Asia/Bangkok": {7 * 60, always}, "Asia/Calcutta": {5*60 + 30, always}, "Asia/Dhaka": {6 * 60, always},
	"Asia/Dubai": {4 * 60, always}, "Asia/Ho_Chi_Minh": {7 * 60, always}, "Asia/Hong_Kong": {8 * 60, always},
	"Asia/Jakarta": {7 * 60, always}, "Asia/Karachi": {5 * 60, always}, "Asia/Kathmandu": {5*60 + 45, always},
	"Asia/Kolkata": {5*60 + 30, always}, "Asia/Kuala_Lumpur": {8 * 60, always}, "Asia/Manila": {8 * 60, always},
	"Asia/Seoul": {9 * 60, always}, "Asia/Shanghai": {8 * 60, always}, "Asia/Singapore": {8 * 60, always},
	"Asia/Taipei": {8 * 60, always}, "Asia/Tokyo": {9 * 60, always}, "Australia/Brisbane": {10 * 60, always},
}

// areasSince is the first year in which the rules of all areas hold.
const areasSince = 2012

// uncertain are names of more than one zone.
const uncertain = `IST AST AMT AMST GST SST ECT WST NST CLT CLST VET BOT PYT UYT BRST IRST IRDT YEKT OMST KRAT NOVT VLAT`
