package date

// zones maps names of zones to minutes east of UTC.
//
// Accepted are the names of UTC, those of RFC 822, and names that only one zone with many readers has. CST,
// EST, MST and PST are American by RFC 822, although China, Australia, Malaysia and the Philippines have used
// them; CST is rejected in Chinese. BST is British in summer and rejected in winter, when it can only be
// another zone (Bangladesh, Bougainville). The two-letter names of American networks follow summer time.
//
// Rejected, unless accompanied by an offset or by a language or country that decides ([localZones]), are names
// that feeds use for more than one zone: IST (India,
// Ireland, Israel), AST (Atlantic, Arabia), AMT and AMST (Amazon, Armenia), GST (Gulf, South Georgia), SST
// (Samoa, Singapore), ECT (Ecuador, Caribbean), WST (Western Australia, Samoa), CLT, VET and others of
// countries that changed their clocks often.
var zones = map[string]zone{
	"UTC": utc, "GMT": utc, "UT": utc, "WET": utc, "UCT": utc, "Z": {0, ruleLetter},

	"EST": {-5 * 60, ruleFixed}, "EDT": {-4 * 60, ruleFixed}, "ET": {-5 * 60, ruleUS},
	"CST": {-6 * 60, ruleFixed}, "CDT": {-5 * 60, ruleFixed}, "CT": {-6 * 60, ruleUS},
	"MST": {-7 * 60, ruleFixed}, "MDT": {-6 * 60, ruleFixed}, "MT": {-7 * 60, ruleUS},
	"PST": {-8 * 60, ruleFixed}, "PDT": {-7 * 60, ruleFixed}, "PT": {-8 * 60, ruleUS},
	"AKST": {-9 * 60, ruleFixed}, "AKDT": {-8 * 60, ruleFixed}, "HST": {-10 * 60, ruleFixed},
	"ADT": {-3 * 60, ruleFixed}, "NDT": {-150, ruleFixed}, "BRT": {-3 * 60, ruleFixed}, "ART": {-3 * 60, ruleFixed},

	"WEST": {60, ruleFixed}, "BST": {60, ruleSummerOnly},
	"CET": {60, ruleFixed}, "MET": {60, ruleFixed}, "MEZ": {60, ruleFixed}, "WAT": {60, ruleFixed},
	"CEST": {2 * 60, ruleFixed}, "MEST": {2 * 60, ruleFixed}, "MESZ": {2 * 60, ruleFixed},
	"EET": {2 * 60, ruleFixed}, "EEST": {3 * 60, ruleFixed}, "CAT": {2 * 60, ruleFixed}, "SAST": {2 * 60, ruleFixed},
	"EAT": {3 * 60, ruleFixed}, "TRT": {3 * 60, ruleFixed}, "IDT": {3 * 60, ruleFixed},
	"MSK": {3 * 60, ruleMoscow}, "MSD": {4 * 60, ruleFixed}, "МСК": {3 * 60, ruleMoscow},

	"PKT": {5 * 60, ruleFixed}, "NPT": {5*60 + 45, ruleFixed}, "WIB": {7 * 60, ruleFixed}, "ICT": {7 * 60, ruleFixed},
	"HKT": {8 * 60, ruleFixed}, "SGT": {8 * 60, ruleFixed}, "PHT": {8 * 60, ruleFixed}, "AWST": {8 * 60, ruleFixed},
	"JST": {9 * 60, ruleFixed}, "KST": {9 * 60, ruleFixed}, "ACST": {9*60 + 30, ruleFixed}, "ACDT": {10*60 + 30, ruleFixed},
	"AEST": {10 * 60, ruleFixed}, "AEDT": {11 * 60, ruleFixed}, "NZST": {12 * 60, ruleFixed}, "NZDT": {13 * 60, ruleFixed},
}

// areas are places of the time zone database, for programs that write the name of their setting. Their rules
// are valid since [areasSince]; places with later changes are omitted.
//
// Source: the IANA time zone database.
var areas = map[string]zone{
	"Etc/UTC": utc, "Etc/GMT": utc, "Etc/UCT": utc, "Africa/Abidjan": utc, "Africa/Accra": utc, "Atlantic/Reykjavik": utc,

	"Europe/London": {0, ruleEU}, "Europe/Dublin": {0, ruleEU}, "Europe/Lisbon": {0, ruleEU},
	"Europe/Amsterdam": {60, ruleEU}, "Europe/Belgrade": {60, ruleEU}, "Europe/Berlin": {60, ruleEU},
	"Europe/Brussels": {60, ruleEU}, "Europe/Budapest": {60, ruleEU}, "Europe/Copenhagen": {60, ruleEU},
	"Europe/Luxembourg": {60, ruleEU}, "Europe/Madrid": {60, ruleEU}, "Europe/Oslo": {60, ruleEU},
	"Europe/Paris": {60, ruleEU}, "Europe/Prague": {60, ruleEU}, "Europe/Rome": {60, ruleEU},
	"Europe/Stockholm": {60, ruleEU}, "Europe/Vienna": {60, ruleEU}, "Europe/Warsaw": {60, ruleEU},
	"Europe/Zurich": {60, ruleEU}, "Europe/Zagreb": {60, ruleEU},
	"Europe/Athens": {2 * 60, ruleEU}, "Europe/Bucharest": {2 * 60, ruleEU}, "Europe/Helsinki": {2 * 60, ruleEU},
	"Europe/Kiev": {2 * 60, ruleEU}, "Europe/Kyiv": {2 * 60, ruleEU}, "Europe/Riga": {2 * 60, ruleEU},
	"Europe/Sofia": {2 * 60, ruleEU}, "Europe/Tallinn": {2 * 60, ruleEU}, "Europe/Vilnius": {2 * 60, ruleEU},
	"Europe/Minsk": {3 * 60, ruleFixed}, "Europe/Moscow": {3 * 60, ruleMoscow},

	"America/New_York": {-5 * 60, ruleUS}, "America/Toronto": {-5 * 60, ruleUS}, "America/Detroit": {-5 * 60, ruleUS},
	"America/Chicago": {-6 * 60, ruleUS}, "America/Denver": {-7 * 60, ruleUS}, "America/Phoenix": {-7 * 60, ruleFixed},
	"America/Los_Angeles": {-8 * 60, ruleUS}, "America/Vancouver": {-8 * 60, ruleUS},
	"America/Bogota": {-5 * 60, ruleFixed}, "America/Lima": {-5 * 60, ruleFixed}, "Pacific/Honolulu": {-10 * 60, ruleFixed},
	"US/Eastern": {-5 * 60, ruleUS}, "US/Central": {-6 * 60, ruleUS}, "US/Mountain": {-7 * 60, ruleUS}, "US/Pacific": {-8 * 60, ruleUS},

	"Africa/Johannesburg": {2 * 60, ruleFixed}, "Africa/Lagos": {60, ruleFixed}, "Africa/Nairobi": {3 * 60, ruleFixed},
	"Asia/Bangkok": {7 * 60, ruleFixed}, "Asia/Calcutta": {5*60 + 30, ruleFixed}, "Asia/Dhaka": {6 * 60, ruleFixed},
	"Asia/Dubai": {4 * 60, ruleFixed}, "Asia/Ho_Chi_Minh": {7 * 60, ruleFixed}, "Asia/Hong_Kong": {8 * 60, ruleFixed},
	"Asia/Jakarta": {7 * 60, ruleFixed}, "Asia/Karachi": {5 * 60, ruleFixed}, "Asia/Kathmandu": {5*60 + 45, ruleFixed},
	"Asia/Kolkata": {5*60 + 30, ruleFixed}, "Asia/Kuala_Lumpur": {8 * 60, ruleFixed}, "Asia/Manila": {8 * 60, ruleFixed},
	"Asia/Seoul": {9 * 60, ruleFixed}, "Asia/Shanghai": {8 * 60, ruleFixed}, "Asia/Singapore": {8 * 60, ruleFixed},
	"Asia/Taipei": {8 * 60, ruleFixed}, "Asia/Tokyo": {9 * 60, ruleFixed}, "Australia/Brisbane": {10 * 60, ruleFixed},
}

// areasSince is the first year in which the rules of all areas are valid.
const areasSince = 2012

// ambiguousZones are names of more than one zone.
const ambiguousZones = `IST AST AMT AMST GST SST ECT WST NST CLT CLST VET BOT PYT UYT BRST IRST IRDT YEKT OMST KRAT NOVT VLAT`
